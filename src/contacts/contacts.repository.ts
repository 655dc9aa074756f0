import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { isId, LOWEST_ID } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { Closable } from '../common/work-budget';
import { ContactKey } from '../database/tables/table-declaration';
import { ContactIdentityEntity } from './contact-identity.entity';
import { contactSearchText } from './contact-search';
import { ContactIdentitiesRepository } from './contact-identities.repository';
import { ContactSearchRepository } from './contact-search.repository';
import { CONTACT_COLUMNS, ContactEntity, ListedContact } from './contact.entity';

/** Largest number of merged contacts that one statement lists. */
const MAX_MERGED = 100;

const FIND = `
  SELECT ${CONTACT_COLUMNS}, tenant_id AS "tenantId", erased_at AS "erasedAt", merged_into_id AS "mergedIntoId"
  FROM contacts WHERE tenant_id = $1`;

const LIST_IDENTITIES = `
  SELECT tenant_id AS "tenantId", channel, external_id AS "externalId", contact_id AS "contactId",
         created_at AS "createdAt", replaced_at AS "replacedAt"
  FROM contact_identities WHERE tenant_id = $1 AND contact_id = ANY ($2) ORDER BY created_at, channel, external_id`;

/** SQL assignments that delete a contact's personal data. */
const EMPTIED = `name = NULL, email = NULL, phone = NULL, avatar_url = NULL, attributes = '{}', verified = '{}',
  search_text = ''`;

@Injectable()
export class ContactsRepository {
  constructor(
    private readonly database: Database,
    private readonly search: ContactSearchRepository,
    private readonly identities: ContactIdentitiesRepository,
  ) {}

  /** Finds a contact; for a merged contact, the one into which it was merged. */
  async find(tenantId: string, id: string, reader: Reader = this.database): Promise<ContactEntity | null> {
    if (!isId(id)) return null;
    const [contact = null] = await reader.query<ContactEntity>(`${FIND} AND id = $2`, [tenantId, id]);
    return contact?.mergedIntoId ? this.find(tenantId, contact.mergedIntoId, reader) : contact;
  }

  /** Finds contacts by their ids. Leaves out erased contacts. */
  async findMany(tenantId: string, ids: string[]): Promise<ListedContact[]> {
    if (ids.length === 0) return [];
    return this.database.pipelinedRead(
      `SELECT ${CONTACT_COLUMNS} FROM contacts WHERE tenant_id = $1 AND id = ANY ($2) AND erased_at IS NULL`,
      [tenantId, ids],
    );
  }

  /**
   * Lists up to `count` contacts with ids below the cursor, newest first.
   * @param caller a search by `q` ends when this response is closed
   */
  list(
    tenantId: string,
    { q, cursor }: { q?: string; cursor?: string },
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

  /** Returns the contact's newest valid id on a channel, else its newest replaced id; null without any. */
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
   * Locks and deletes up to `count` identities of a contact. Because of the locks, a concurrent message from
   * such an identity is stored before the deletion, or creates a new contact.
   * @returns whether more identities may be left
   */
  async eraseIdentities(tx: Transaction, contact: ContactKey, count: number): Promise<boolean> {
    const { tenantId, contactId } = contact;
    const identities = await this.identities.listNames(tx, contact, count);
    await this.identities.lock(tx, tenantId, identities);
    await tx.query(
      `DELETE FROM contact_identities WHERE tenant_id = $1 AND contact_id = $2
         AND (channel, external_id) IN (SELECT * FROM unnest($3::text[], $4::text[]))`,
      [
        tenantId,
        contactId,
        identities.map(({ channel }) => channel),
        identities.map(({ externalId }) => externalId),
      ],
    );
    return identities.length === count;
  }

  /** Locks a contact; for a merged contact, the one into which it was merged. */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<ContactEntity | null> {
    if (!isId(id)) return null;
    const lockOne = `${FIND} AND id = $2 FOR NO KEY UPDATE`;
    const [contact = null] = await tx.query<ContactEntity>(lockOne, [tenantId, id]);
    return contact?.mergedIntoId ? this.lock(tx, tenantId, contact.mergedIntoId) : contact;
  }

  /**
   * Locks a contact's identities, and then the contact. A merge locks in the same order, so that no deadlock
   * occurs. For a merged contact, locks the one into which it was merged.
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

  /** Locks contacts in the order of their ids. The lock also prevents new rows that refer to them. */
  lockMany(tx: Transaction, tenantId: string, ids: string[]): Promise<ContactEntity[]> {
    return tx.query(`${FIND} AND id = ANY ($2) ORDER BY id FOR UPDATE`, [tenantId, ids]);
  }

  /**
   * Deletes the personal data of the contacts `from`, and records that they were merged into `into`. Contacts
   * that had been merged into one of them lead to `into` as well.
   */
  async mergeAll(tx: Transaction, tenantId: string, from: string[], into: string): Promise<void> {
    await tx.query(
      `UPDATE contacts SET ${EMPTIED}, merged_into_id = $3
       WHERE tenant_id = $1 AND (id = ANY ($2) OR merged_into_id = ANY ($2))`,
      [tenantId, from, into],
    );
  }

  /** Yields the ids of all contacts that were merged into a contact. Each statement reads up to 100. */
  async *listMerged(tx: Transaction, { tenantId, contactId }: ContactKey): AsyncGenerator<string> {
    let merged = [{ id: LOWEST_ID }];
    do {
      merged = await tx.query<{ id: string }>(
        `SELECT id FROM contacts WHERE tenant_id = $1 AND merged_into_id = $2 AND id > $3
         ORDER BY id LIMIT ${MAX_MERGED}`,
        [tenantId, contactId, merged.at(-1)!.id],
      );
      for (const { id } of merged) yield id;
    } while (merged.length === MAX_MERGED);
  }

  /** Stores a locked contact's editable values, and the search text that follows from them. */
  async update(tx: Transaction, tenantId: string, contact: ListedContact): Promise<void> {
    const { id, name, email, phone, attributes, verified, updatedAt } = contact;
    await tx.query(
      `UPDATE contacts SET name = $3, email = $4, phone = $5, attributes = $6, verified = $7, updated_at = $8,
         search_text = $9
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, name, email, phone, attributes, verified, updatedAt, contactSearchText(contact)],
    );
  }

  /** Locks a contact, and deletes its personal data. */
  async erase(tx: Transaction, { tenantId, contactId }: ContactKey): Promise<void> {
    await tx.query(
      `UPDATE contacts SET ${EMPTIED}, updated_at = $3, erased_at = coalesce(erased_at, $3)
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, contactId, new Date()],
    );
  }

  async insert(tx: Transaction, contact: ContactEntity): Promise<void> {
    const { tenantId, id, name, email, phone, attributes, createdAt, updatedAt } = contact;
    await tx.query(
      `INSERT INTO contacts (tenant_id, id, name, email, phone, attributes, created_at, updated_at, search_text, verified)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '{}')`,
      [tenantId, id, name, email, phone, attributes, createdAt, updatedAt, contactSearchText(contact)],
    );
  }
}
