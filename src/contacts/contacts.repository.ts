import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { Closable } from '../common/work-budget';
import { ContactKey } from '../stored-data/table-declaration';
import { ContactIdentityEntity } from './contact-identity.entity';
import { contactSearchText, toStored } from './contact-search';
import { ContactSearchRepository } from './contact-search.repository';
import { CONTACT_COLUMNS, ListedContact } from './contact-columns';
import { ContactEntity, VERIFIED_FIELDS, VerifiedField } from './contact.entity';

export interface ContactFilter {
  q?: string;
  cursor?: string;
}

const LIST_IDENTITIES = `
  SELECT tenant_id AS "tenantId", channel, external_id AS "externalId", contact_id AS "contactId",
         created_at AS "createdAt"
  FROM contact_identities WHERE tenant_id = $1 AND contact_id = ANY ($2) ORDER BY created_at, channel`;

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
  ) {}

  async find(tenantId: string, id: string, reader: Reader = this.database): Promise<ContactEntity | null> {
    return isId(id) ? reader.manager.findOneBy(ContactEntity, { tenantId, id }) : null;
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
       WHERE tenant_id = $1 AND contact_id = $2 AND channel = $3 ORDER BY created_at DESC, external_id LIMIT 1`,
      [tenantId, contactId, channel],
    );
    return identity?.externalId ?? null;
  }

  /**
   * Locks an identity until the transaction ends, even if no row exists yet, so that concurrent first
   * messages of a new customer make one contact.
   */
  async lockIdentity(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    externalId: string,
  ): Promise<ContactIdentityEntity | null> {
    const name = `identity ${tenantId} ${channel} ${externalId}`;
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
    return tx.manager.findOneBy(ContactIdentityEntity, { tenantId, channel, externalId });
  }

  /**
   * Deletes up to `count` identities of a contact, under the lock of each: a message that comes from one at
   * that moment is stored before, or makes a new contact.
   * @returns whether there may be more
   */
  async eraseIdentities(
    tx: Transaction,
    { tenantId, contactId }: ContactKey,
    count: number,
  ): Promise<boolean> {
    const identities = await tx.query<Pick<ContactIdentityEntity, 'channel' | 'externalId'>>(
      `SELECT channel, external_id AS "externalId" FROM contact_identities WHERE tenant_id = $1 AND contact_id = $2
       ORDER BY channel, external_id LIMIT $3`,
      [tenantId, contactId, count],
    );
    for (const { channel, externalId } of identities) {
      await this.lockIdentity(tx, tenantId, channel, externalId);
      await tx.manager.delete(ContactIdentityEntity, { tenantId, channel, externalId, contactId });
    }
    return identities.length === count;
  }

  async lock(tx: Transaction, tenantId: string, id: string): Promise<ContactEntity | null> {
    if (!isId(id)) return null;
    return tx.manager.findOne(ContactEntity, {
      where: { tenantId, id },
      lock: { mode: 'for_no_key_update' },
    });
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
      `UPDATE contacts SET name = NULL, email = NULL, phone = NULL, avatar_url = NULL, attributes = '{}', verified = '{}',
         search_text = '', updated_at = $3, erased_at = coalesce(erased_at, $3)
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

  async insertIdentity(tx: Transaction, identity: ContactIdentityEntity): Promise<void> {
    await tx.manager.insert(ContactIdentityEntity, identity);
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
