import { Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { Channel } from '../common/channel';
import { isId } from '../common/ids';
import { Database, Transaction } from '../database/database';
import { ContactIdentityEntity } from './contact-identity.entity';
import { searchPatterns } from './contact-search';
import { ContactEntity } from './contact.entity';

/** Which rows of a list to read. */
export interface ContactFilter {
  q?: string;
  cursor?: string;
}

@Injectable()
export class ContactsRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<ContactEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(ContactEntity, { tenantId, id }) : null;
  }

  /** Newest first, from below the cursor. */
  list(tenantId: string, { q, cursor }: ContactFilter, count: number): Promise<ContactEntity[]> {
    const query = this.database.manager
      .createQueryBuilder(ContactEntity, 'contact')
      .where('contact.tenantId = :tenantId', { tenantId })
      .orderBy('contact.id', 'DESC')
      .limit(count);
    if (cursor) query.andWhere('contact.id < :cursor', { cursor });
    if (q) {
      // The patterns are lowered by the database, as the searched text was, so that both fold case alike.
      const [text, digits] = searchPatterns(q);
      const matches = [
        'contact.search_text LIKE lower(:text)',
        ...(digits ? ['contact.search_text LIKE :digits'] : []),
      ];
      query.andWhere(`(${matches.join(' OR ')})`, { text, digits });
    }
    return query.getMany();
  }

  identitiesOf(tenantId: string, contactIds: string[]): Promise<ContactIdentityEntity[]> {
    return this.database.manager.find(ContactIdentityEntity, {
      where: { tenantId, contactId: In(contactIds) },
      order: { createdAt: 'ASC', channel: 'ASC' },
    });
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
