import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Channel } from '../common/channel-descriptors';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { Closable } from '../common/work-budget';
import { ContactKey } from '../database/tables/table-declaration';
import { ContactIdentityEntity } from './contact-identity.entity';
import { contactSearchText, toStored } from './contact-search';
import { ContactIdentitiesRepository } from './contact-identities.repository';
import { ContactSearchRepository } from './contact-search.repository';
import { CONTACT_COLUMNS, ListedContact } from './contact-columns';
import { ContactEntity, VERIFIED_FIELDS, VerifiedField } from './contact.entity';

export interface ContactFilter {
  q?: string;
  cursor?: string;
}

const LIST_IDENTITIES = `
  SELECT tenant_id AS "tenantId", channel, external_id AS "externalId", contact_id AS "contactId",
         created_at AS "createdAt", replaced_at AS "replacedAt"
  FROM contact_identities WHERE tenant_id = $1 AND contact_id = ANY ($2) ORDER BY created_at, channel, external_id`;

/** Assignments, in SQL, that delete all that a contact says about a person. */
const EMPTIED = `name = NULL, email = NULL, phone = NULL, avatar_url = NULL, attributes = '{}', verified = '{}',
  search_text = ''`;

/** Contact whose profile was updated. */
export interface UpdatedProfile {
  contact: ListedContact;
  changed: (VerifiedField | 'verified')[];
}

/** Name and e-mail address of a contact, signed or claimed. */
export interface ContactProfile {
  name?: string | null;
  email?: string | null;
}

@Injectable()
export class ContactsRepository {
  constructor(
    private readonly database: Database,
    private readonly search: ContactSearchRepository,
    private readonly identities: ContactIdentitiesRepository,
  ) {}

  /** Finds a contact, or the one into which it was merged. */
  async find(tenantId: string, id: string, reader: Reader = this.database): Promise<ContactEntity | null> {
    if (!isId(id)) return null;
    const contact = await reader.manager.findOneBy(ContactEntity, { tenantId, id });
    return contact?.mergedIntoId ? this.find(tenantId, contact.mergedIntoId, reader) : contact;
  }

  /** Finds those of the contacts that the workspace has and that are not erased. */
  async findMany(tenantId: string, ids: string[]): Promise<ListedContact[]> {
    if (ids.length === 0) return [];
    return this.database.pipelinedRead(
      `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE tenant_id = $1 AND id = ANY ($2) AND erased_at IS NULL`,
      [tenantId, ids],
    );
  }

  /**
   * Lists contacts below the cursor, the newest first.
   * @param caller ends a search when it closes
   */
  list(
    tenantId: string,
    { q, cursor }: ContactFilter,
    count: number,
    caller?: Closable,
  ): Promise<ListedContact[]> {
    if (q) return this.search.find(tenantId, { q, cursor, count }, caller);
    return new PageStatement(CONTACT_COLUMNS, 'contacts')
      .where('tenant_id = ?', tenantId)
      .where('merged_into_id IS NULL')
      .read(this.database, cursor, count);
  }

  listIdentities(tenantId: string, contactIds: string[]): Promise<ContactIdentityEntity[]> {
    return this.database.pipelinedRead(LIST_IDENTITIES, [tenantId, contactIds]);
  }

  listIdentitiesIn(tx: Transaction, tenantId: string, contactId: string): Promise<ContactIdentityEntity[]> {
    return tx.query(LIST_IDENTITIES, [tenantId, [contactId]]);
  }

  /** Finds the id that a contact got last on a channel; null if it has none there. */
  async findLatestIdentity(
    tx: Transaction,
    { tenantId, contactId }: ContactKey,
    channel: Channel,
  ): Promise<string | null> {
    const [identity] = await tx.query<{ externalId: string }>(
      `SELECT external_id AS "externalId" FROM contact_identities
       WHERE tenant_id = $1 AND contact_id = $2 AND channel = $3
       ORDER BY replaced_at IS NOT NULL, created_at DESC, external_id LIMIT 1`,
      [tenantId, contactId, channel],
    );
    return identity?.externalId ?? null;
  }

  /**
   * Deletes up to `count` identities of a contact, under the lock of each: a message that comes from one at
   * that moment is stored before, or makes a new contact.
   * @returns whether there may be more
   */
  async eraseIdentities(tx: Transaction, contact: ContactKey, count: number): Promise<boolean> {
    const { tenantId, contactId } = contact;
    const identities = await this.identities.listNames(tx, contact, count);
    await this.identities.lock(tx, tenantId, identities);
    for (const { channel, externalId } of identities) {
      await tx.manager.delete(ContactIdentityEntity, { tenantId, channel, externalId, contactId });
    }
    return identities.length === count;
  }

  /** Locks a contact, or the one into which it was merged. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<ContactEntity | null> {
    if (!isId(id)) return null;
    const contact = await tx.manager.findOne(ContactEntity, {
      where: { tenantId, id },
      lock: { mode: 'for_no_key_update' },
    });
    return contact?.mergedIntoId ? this.lock(tx, tenantId, contact.mergedIntoId) : contact;
  }

  /**
   * Locks a contact, or the one into which it was merged, after its identities, as whoever merges contacts
   * does.
   */
  async lockWithIdentities(tx: Transaction, tenantId: string, id: string): Promise<ContactEntity | null> {
    let contact = await this.find(tenantId, id, tx);
    while (contact) {
      await this.identities.lockAllOf(tx, { tenantId, contactId: contact.id });
      const found = await this.find(tenantId, id, tx);
      if (found?.id === contact.id) return this.lock(tx, tenantId, contact.id);
      contact = found;
    }
    return null;
  }

  /** Locks contacts, oldest first, also against new rows that refer to them. */
  lockMany(tx: Transaction, tenantId: string, ids: string[]): Promise<ContactEntity[]> {
    return tx.manager.find(ContactEntity, {
      where: { tenantId, id: In(ids) },
      order: { id: 'ASC' },
      lock: { mode: 'pessimistic_write' },
    });
  }

  /**
   * Empties contacts who were merged into another one, and leads from their ids to that one, as from those of
   * contacts who were merged into them before.
   */
  async mergeAll(tx: Transaction, tenantId: string, from: string[], into: string): Promise<void> {
    await tx.query(
      `UPDATE contacts SET ${EMPTIED}, merged_into_id = $3
       WHERE tenant_id = $1 AND (id = ANY ($2) OR merged_into_id = ANY ($2))`,
      [tenantId, from, into],
    );
  }

  /** Lists the ids of contacts who were merged into one. */
  async listMerged(tx: Transaction, { tenantId, contactId }: ContactKey): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      'SELECT id FROM contacts WHERE tenant_id = $1 AND merged_into_id = $2 ORDER BY id LIMIT 100',
      [tenantId, contactId],
    );
    return rows.map(({ id }) => id);
  }

  /** Stores the values of a locked contact that a person can edit. */
  async update(tx: Transaction, tenantId: string, contact: ListedContact): Promise<void> {
    const { id, name, email, phone, attributes, verified, updatedAt } = contact;
    await tx.query(
      `UPDATE contacts SET name = $3, email = $4, phone = $5, attributes = $6, verified = $7, updated_at = $8,
         search_text = $9
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, name, email, phone, attributes, verified, updatedAt, contactSearchText(contact)],
    );
  }

  /** Locks a contact, and deletes all that it says about a person. */
  async erase(tx: Transaction, { tenantId, contactId }: ContactKey): Promise<void> {
    await tx.query(
      `UPDATE contacts SET ${EMPTIED}, updated_at = $3, erased_at = coalesce(erased_at, $3)
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, contactId, new Date()],
    );
  }

  /**
   * Updates a profile as `ContactsService.updateProfile` says.
   * @returns null when nothing has changed, or the contact is erased
   */
  async updateProfile(
    tx: Transaction,
    tenantId: string,
    contactId: string,
    { signed = {}, claimed }: { signed?: ContactProfile; claimed: ContactProfile },
  ): Promise<UpdatedProfile | null> {
    const [before] = await tx.query<ListedContact>(
      `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE tenant_id = $1 AND id = $2 AND erased_at IS NULL FOR NO KEY UPDATE`,
      [tenantId, contactId],
    );
    if (!before) return null;
    const after = withProfile(before, { signed, claimed });
    const changed = [
      ...VERIFIED_FIELDS.filter((field) => after[field] !== before[field]),
      ...(after.verified.length > before.verified.length ? (['verified'] as const) : []),
    ];
    if (changed.length === 0) return null;
    await this.update(tx, tenantId, after);
    return { contact: after, changed };
  }

  async insert(tx: Transaction, contact: ContactEntity): Promise<void> {
    await tx.manager.insert(ContactEntity, {
      ...contact,
      attributes: contact.attributes as object,
      searchText: contactSearchText(contact),
    });
  }
}

/** Returns a contact with the values that are signed, and with those that are claimed where it has none. */
function withProfile(
  before: ListedContact,
  { signed, claimed }: { signed: ContactProfile; claimed: ContactProfile },
): ListedContact {
  const valueOf = (field: VerifiedField) =>
    toStored(signed[field] ?? before[field] ?? claimed[field] ?? null);
  const isSigned = (field: VerifiedField) => typeof signed[field] === 'string';
  return {
    ...before,
    name: valueOf('name'),
    email: valueOf('email'),
    verified: [...new Set([...before.verified, ...VERIFIED_FIELDS.filter(isSigned)])].sort(),
    updatedAt: new Date(),
  };
}
