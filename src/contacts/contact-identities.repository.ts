import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { ContactKey } from '../database/tables/table-declaration';
import { ContactIdentityEntity, IdentityName } from './contact-identity.entity';
import { StoredIdentity } from './identity-links';

/** Maximum identities that one statement reads. It is enough, because the contacts of a person have fewer. */
const MAX_LISTED = 100;

const COLUMNS = `i.external_id AS "externalId", i.contact_id AS "contactId",
  i.created_at AS "createdAt", i.replaced_at AS "replacedAt"`;

const FROM_KNOWN = `FROM contact_identities i JOIN contacts k ON k.tenant_id = $1 AND k.id = i.contact_id
  AND k.erased_at IS NULL`;
const FIND = `SELECT ${COLUMNS} ${FROM_KNOWN} WHERE i.tenant_id = $1 AND i.channel = $2 AND i.external_id = ANY ($3)`;

@Injectable()
export class ContactIdentitiesRepository {
  constructor(private readonly database: Database) {}

  /** Finds the stored identities with these ids, except those whose contact is erased. Takes no lock. */
  findOwners(tenantId: string, channel: Channel, externalIds: string[]): Promise<StoredIdentity[]> {
    return this.database.pipelinedRead(FIND, [tenantId, channel, externalIds]);
  }

  /**
   * Locks ids until the transaction ends, even ids without a row, so that concurrent first messages of a
   * customer create one contact. All transactions lock in the same order (by hash) to avoid deadlocks.
   */
  async lock(tx: Transaction, tenantId: string, identities: IdentityName[]): Promise<void> {
    const names = identities.map(
      ({ channel, externalId }) => `identity ${tenantId} ${channel} ${externalId}`,
    );
    await tx.query(
      `SELECT pg_advisory_xact_lock(hash) FROM (
         SELECT hashtextextended(name, 0) AS hash FROM unnest($1::text[]) name ORDER BY 1 OFFSET 0) ordered`,
      [names],
    );
  }

  listNames(tx: Transaction, { tenantId, contactId }: ContactKey, count: number): Promise<IdentityName[]> {
    return tx.query(
      `SELECT channel, external_id AS "externalId" FROM contact_identities
       WHERE tenant_id = $1 AND contact_id = $2 ORDER BY channel, external_id LIMIT $3`,
      [tenantId, contactId, count],
    );
  }

  /** Locks a contact's ids on all channels (up to 100), also ids that are added while it waits for locks. */
  async lockAllOf(tx: Transaction, contact: ContactKey): Promise<void> {
    const nameOf = ({ channel, externalId }: IdentityName) => `${channel} ${externalId}`;
    const locked = new Set<string>();
    for (;;) {
      const identities = await this.listNames(tx, contact, MAX_LISTED);
      const others = identities.filter((identity) => !locked.has(nameOf(identity)));
      if (others.length === 0) return;
      await this.lock(tx, contact.tenantId, others);
      for (const identity of others) locked.add(nameOf(identity));
    }
  }

  /** Locks ids on a channel, and finds their stored identities, except those whose contact is erased. */
  async lockAndFind(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    externalIds: string[],
  ): Promise<StoredIdentity[]> {
    const names = externalIds.map((externalId) => ({ channel, externalId }));
    // Both statements are sent in one packet. PostgreSQL runs them in this order, so the locks come first.
    const locking = this.lock(tx, tenantId, names);
    const finding = tx.query<StoredIdentity>(FIND, [tenantId, channel, externalIds]);
    // If the first statement fails, so does the second. Its error is ignored, because the first is thrown.
    finding.catch(() => undefined);
    await locking;
    return finding;
  }

  /** Lists the given contacts' identities on a channel: the newest 100 in total, without erased contacts. */
  listOnChannel(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    contactIds: string[],
  ): Promise<StoredIdentity[]> {
    return tx.query(
      `SELECT ${COLUMNS} ${FROM_KNOWN} WHERE i.tenant_id = $1 AND i.contact_id = ANY ($2) AND i.channel = $3
       ORDER BY i.created_at DESC, i.external_id LIMIT ${MAX_LISTED}`,
      [tenantId, contactIds, channel],
    );
  }

  /** Assigns a locked id to a contact, even if another contact has it. */
  async assign(tx: Transaction, identity: Omit<ContactIdentityEntity, 'replacedAt'>): Promise<void> {
    const { tenantId, channel, externalId, contactId, createdAt } = identity;
    await tx.query(
      `INSERT INTO contact_identities (tenant_id, channel, external_id, contact_id, created_at)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (tenant_id, channel, external_id)
       DO UPDATE SET contact_id = excluded.contact_id, created_at = excluded.created_at, replaced_at = NULL`,
      [tenantId, channel, externalId, contactId, createdAt],
    );
  }

  /** Stores the time at which the person got other ids in place of these; null makes the ids valid again. */
  async setReplaced(
    tx: Transaction,
    { tenantId, contactId }: ContactKey,
    channel: Channel,
    externalIds: string[],
    replacedAt: Date | null,
  ): Promise<void> {
    if (externalIds.length === 0) return;
    await tx.query(
      `UPDATE contact_identities SET replaced_at = $5
       WHERE tenant_id = $1 AND contact_id = $2 AND channel = $3 AND external_id = ANY ($4)`,
      [tenantId, contactId, channel, externalIds, replacedAt],
    );
  }

  /** Assigns all ids of the contacts `from`, on all channels, to the contact `contactId`. */
  async moveAll(tx: Transaction, tenantId: string, from: string[], contactId: string): Promise<void> {
    await tx.query(
      'UPDATE contact_identities SET contact_id = $3 WHERE tenant_id = $1 AND contact_id = ANY ($2)',
      [tenantId, from, contactId],
    );
  }
}
