import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { Database, Reader } from '../database/database';
import { Transaction } from '../database/transaction';
import { ContactKey } from '../database/tables/table-declaration';

/** Maximum number of conversations that one statement changes. A person has fewer. */
const MAX_CHANGED = 1_000;

export interface ConversationContact {
  conversationId: string;
  contactId: string;
  contactName: string | null;
}

@Injectable()
export class ContactConversationsRepository {
  constructor(private readonly database: Database) {}

  async findContacts(tenantId: string, ids: string[]): Promise<ConversationContact[]> {
    if (ids.length === 0) return [];
    return this.database.query(
      `SELECT c.id AS "conversationId", k.id AS "contactId", k.name AS "contactName"
       FROM conversations c JOIN contacts k ON k.tenant_id = $1 AND k.id = c.contact_id
       WHERE c.tenant_id = $1 AND c.id = ANY ($2)`,
      [tenantId, ids],
    );
  }

  /** Lists the ids of a contact's conversations above the id `after`, lowest first, up to `count`. */
  async listByContact(
    reader: Reader,
    { tenantId, contactId }: ContactKey,
    after: string,
    count: number,
  ): Promise<string[]> {
    const rows = await reader.query<{ id: string }>(
      'SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = $2 AND id > $3 ORDER BY id LIMIT $4',
      [tenantId, contactId, after, count],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Moves the conversations of the contacts `from` to another contact: the newest 1,000 in all.
   * @returns the ids of the moved conversations
   */
  async moveToContact(
    tx: Transaction,
    { tenantId, contactId }: ContactKey,
    from: string[],
  ): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `UPDATE conversations SET contact_id = $3 WHERE tenant_id = $1 AND id IN (
         SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = ANY ($2)
         ORDER BY id DESC LIMIT ${MAX_CHANGED} FOR NO KEY UPDATE)
       RETURNING id`,
      [tenantId, from, contactId],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Replaces the customer's id on the channel to which replies are sent, if it is one of `from`, by `to`.
   * Changes only the contacts' newest 1,000 conversations. If `to` is null, no reply can be sent until the
   * customer writes again.
   */
  async redirectAnswers(
    tx: Transaction,
    { tenantId, contactIds, channel }: { tenantId: string; contactIds: string[]; channel: Channel },
    from: string[],
    to: string | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE conversations SET identity_external_id = $5 WHERE tenant_id = $1 AND id IN (
         SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = ANY ($2)
         ORDER BY id DESC LIMIT ${MAX_CHANGED})
       AND source_channel = $3 AND identity_external_id = ANY ($4)`,
      [tenantId, contactIds, channel, from, to],
    );
  }
}
