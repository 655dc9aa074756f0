import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel';
import { isId } from '../common/ids';
import { Database } from '../database/database';
import { Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { ContactIdentityEntity } from './contact-identity.entity';
import { isIndexable, searchPatterns } from './contact-search';
import { ContactEntity } from './contact.entity';

/** Which rows of a list to read. */
export interface ContactFilter {
  q?: string;
  cursor?: string;
}

/** What is shown of a contact. */
export type ListedContact = Omit<ContactEntity, 'tenantId'>;

const LISTED = `id, name, email, phone, avatar_url AS "avatarUrl", attributes, created_at AS "createdAt",
  updated_at AS "updatedAt"`;

@Injectable()
export class ContactsRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<ContactEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(ContactEntity, { tenantId, id }) : null;
  }

  /** Newest first, from below the cursor. */
  list(tenantId: string, { q, cursor }: ContactFilter, count: number): Promise<ListedContact[]> {
    const page = new PageStatement(LISTED, 'contacts').where('tenant_id = ?', tenantId);
    if (!q) return page.read(this.database, cursor, count);
    // What is looked for is lowered by the database, as the searched text was, so that both fold case alike.
    const [text, ...digits] = searchPatterns(q);
    const orDigits = digits.length > 0 ? 'OR search_text LIKE ?' : '';
    if (isIndexable(q)) {
      // By the index, or, where many have it, in the order of the list: which is better, the values tell.
      page.where(`(search_text LIKE lower(?) ${orDigits})`, text, ...digits);
      return page.readPlanned(this.database, cursor, count);
    }
    // How rare it is can't be told from statistics here: so the workspace's contacts are gone through in their order,
    // and never everybody's, as if it were very rare.
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
   * Whom a channel knows by this id. Whatever a customer sends waits here for what they sent before, also while nobody
   * knows them yet: so a new customer's first messages, however many come at once, make one contact.
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
