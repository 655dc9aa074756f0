import { Injectable } from '@nestjs/common';
import { requirePermission } from '../access/require-permission';
import { AuditService } from '../audit/audit.service';
import { AppError } from '../common/app-error';
import { LOWEST_ID } from '../common/ids';
import { Actor } from '../access/principal';
import { ContactLine, IdentityLine } from '../contacts/contact-tables';
import { ContactsRepository } from '../contacts/contacts.repository';
import { ConversationLine } from '../conversations/conversation-tables';
import { ContactConversationsRepository } from '../conversations/contact-conversations.repository';
import { Database } from '../database/database';
import { MessageLine } from '../messages/message-tables';
import { NoteLine } from '../inbox/inbox-tables';
import { ContactKey } from '../database/tables/table-declaration';
import { TableRegistry } from '../database/tables/table-registry';

const PAGE = 200;

export type ContactExportLine = ContactLine | IdentityLine | ConversationLine | MessageLine | NoteLine;

/** Exports the data that a workspace stores of a person (GDPR, articles 15 and 20). */
@Injectable()
export class ContactExportService {
  constructor(
    private readonly database: Database,
    private readonly contacts: ContactsRepository,
    private readonly conversations: ContactConversationsRepository,
    private readonly tables: TableRegistry,
    private readonly audit: AuditService,
  ) {}

  /**
   * Yields a contact, their identities, and each of their conversations with its messages and the agents'
   * notes, oldest first. Reads 200 rows at a time, when the consumer needs them, so memory use does not grow
   * with the history. Appends an audit entry.
   * @throws AppError NOT_FOUND, FORBIDDEN, INVALID_BODY (the actor), all at the first line
   */
  async *export(tenantId: string, id: string, actor: Actor): AsyncGenerator<ContactExportLine> {
    const contact = await this.contacts.find(tenantId, id);
    if (!contact) throw AppError.notFound('Contact');
    const { id: contactId } = contact;
    await this.database.transaction(async (tx) => {
      await requirePermission(tx, tenantId, actor, 'contact.export');
      const subject = { tenantId, actor, entity: 'contact', entityId: contactId };
      this.audit.appendPipelined(tx, { ...subject, action: 'contact.exported' });
    });
    yield* this.exportLines({ tenantId, contactId }) as AsyncGenerator<ContactExportLine>;
  }

  private async *exportLines(contact: ContactKey): AsyncGenerator<object> {
    const { tenantId } = contact;
    const tables = this.tables.listExports();
    for (const table of tables) if (table.exportContact) yield* table.exportContact(contact);
    for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
      const page: string[] = await this.conversations.listByContact(this.database, contact, after, PAGE);
      for (const conversationId of page) {
        const conversation = { tenantId, conversationId };
        for (const table of tables)
          if (table.exportConversation) yield* table.exportConversation(conversation);
      }
      after = page.length < PAGE ? undefined : page.at(-1);
    }
  }
}
