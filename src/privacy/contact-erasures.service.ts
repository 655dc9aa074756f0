import { Injectable } from '@nestjs/common';
import { requirePermission, requireReadPermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { isId } from '../common/ids';
import { Actor } from '../access/principal';
import { ContactsRepository } from '../contacts/contacts.repository';
import { Database } from '../database/database';
import { EventsRepository } from '../outbox/events.repository';
import { TableRegistry } from '../database/tables/table-registry';
import { ContactErasureSummary, toErasureSummary } from './contact-erasure.dto';
import { ContactErasuresRepository } from './contact-erasures.repository';

/**
 * Maximum rows of each table, and events of the contact, that `start` itself erases. Most contacts have no
 * more; a worker erases the rest.
 */
const MAX_ROWS = 50;

/** Erases the data that a workspace stores of a person (GDPR, article 17). */
@Injectable()
export class ContactErasuresService {
  constructor(
    private readonly database: Database,
    private readonly erasures: ContactErasuresRepository,
    private readonly contacts: ContactsRepository,
    private readonly events: EventsRepository,
    private readonly tables: TableRegistry,
    private readonly audit: AuditService,
  ) {}

  /**
   * Begins to erase a contact for ever. If an erasure of the contact is in progress, returns that one.
   * - When the call returns, name, e-mail, phone, avatar, attributes and identities are erased, also in the
   *   contact's 50 newest events. A later message from an erased identity creates a new contact.
   * - A worker then erases the messages and every copy of them, including messages that arrive in the
   *   contact's conversations meanwhile. Ids, times, directions and channels stay.
   * @throws AppError NOT_FOUND, FORBIDDEN, INVALID_BODY (the actor)
   */
  async start(tenantId: string, id: string, actor: Actor): Promise<ContactErasureSummary> {
    if (!isId(tenantId) || !isId(id)) throw AppError.notFound('Contact');
    return this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'contact.erase');
      const contact = await this.contacts.lockWithIdentities(tx, tenantId, id);
      if (!contact) throw AppError.notFound('Contact');
      const { id: contactId } = contact;
      for (const erasure of this.tables.listErasures())
        await erasure.eraseContact?.(tx, { tenantId, contactId }, MAX_ROWS);
      // The contact's row is locked by now, so no newer event with the contact's profile can appear.
      await this.events.eraseNewestOfContact(tx, { tenantId, contactId }, MAX_ROWS);
      const running = await this.erasures.findUnfinished({ tenantId, contactId }, tx);
      if (running) return toErasureSummary(running);
      const erasure = await this.erasures.insert(tx, { tenantId, contactId });
      // Also erases events and messages under the ids of contacts that were merged into this one.
      for await (const merged of this.contacts.listMerged(tx, { tenantId, contactId }))
        await this.erasures.insert(tx, { tenantId, contactId: merged });
      this.audit.appendPipelined(tx, {
        tenantId,
        actor,
        action: 'contact.erasure_started',
        entity: 'contact',
        entityId: contactId,
        metadata: { erasureId: erasure.id },
      });
      return toErasureSummary(erasure);
    });
  }

  /**
   * Returns an erasure and its progress.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async get(tenantId: string, id: string, actor: Actor): Promise<ContactErasureSummary> {
    await requireReadPermission(this.database, tenantId, actor, 'contact.read');
    const erasure = await this.erasures.find(tenantId, id);
    if (!erasure) throw AppError.notFound('Contact erasure');
    return toErasureSummary(erasure);
  }

  /**
   * Returns the contact's erasure that is in progress; null if there is none.
   * @throws AppError FORBIDDEN, NOT_FOUND
   */
  async getRunning(tenantId: string, contactId: string, actor: Actor): Promise<ContactErasureSummary | null> {
    await requireReadPermission(this.database, tenantId, actor, 'contact.read');
    const contact = await this.contacts.find(tenantId, contactId);
    if (!contact) throw AppError.notFound('Contact');
    const erasure = await this.erasures.findUnfinished({ tenantId, contactId: contact.id });
    return erasure && toErasureSummary(erasure);
  }
}
