import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel';
import { isId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { ContactIdentityEntity } from './contact-identity.entity';
import { isIndexable, searchPatterns } from './contact-search';
import { ContactEntity } from './contact.entity';

export interface ContactFilter {
  q?: string;
  cursor?: string;
}

export type ListedContact = Omit<ContactEntity, 'tenantId'>;

const LISTED = `id, name, email, phone, avatar_url AS "avatarUrl", attributes, created_at AS "createdAt",
  updated_at AS "updatedAt"`;

@Injectable()
export class ContactsRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<ContactEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(ContactEntity, { tenantId, id }) : null;
  }

  /** Newest first, below the cursor. */
  list(tenantId: string, { q, cursor }: ContactFilter, count: number): Promise<ListedContact[]> {
    const page = new PageStatement(LISTED, 'contacts').where('tenant_id = ?', tenantId);
    if (!q) return page.read(this.database, cursor, count);
    // PostgreSQL lowers the pattern, as it lowered the stored text: so both fold case alike.
    const [text, ...digits] = searchPatterns(q);
    const orDigits = digits.length > 0 ? 'OR search_text LIKE ?' : '';
    if (isIndexable(q)) {
      // The planner sees the values: the index is better for a rare text, the list's order for a frequent one.
      page.where(`(search_text LIKE lower(?) ${orDigits})`, text, ...digits);
      return page.readPlanned(this.database, cursor, count);
    }
    // The statistics cannot estimate this text. With strpos the planner never assumes that it is very rare: it reads
    // this workspace's contacts in the list's order, not all workspaces'.
    page.where(`(strpos(search_text, lower(?)) > 0 ${orDigits})`, q, ...digits);
    return page.read(this.database, cursor, count);
  }

  identitiesOf(tenantId: string, contactIds: string[]): Promise<ContactIdentityEntity[]> {
    return this.database.pipelinedRead(
      `SELECT tenant_id AS "tenantId", channel, external_id AS "externalId", contact_id AS "contactId",
              created_at AS "createdAt"
       FROM contact_identities WHERE tenant_id = $1 AND contact_id = ANY ($2) ORDER BY created_at, channel`,
      [tenantId, contactIds],
    );
  }

  /**
   * Locks the identity until the transaction ends, even if no row exists yet: so concurrent first messages of a new
   * customer make one contact.
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

  async insertIdentity(tx: Transaction, identity: ContactIdentityEntity): Promise<void> {
    await tx.manager.insert(ContactIdentityEntity, identity);
  }

  async insert(tx: Transaction, contact: ContactEntity): Promise<void> {
    await tx.manager.insert(ContactEntity, { ...contact, attributes: contact.attributes as object });
  }
}
