import { Injectable } from '@nestjs/common';
import { boundedCount } from '../database/bounded-count';
import { Database } from '../database/database';
import { Pipelined, Transaction } from '../database/transaction';
import { PageStatement } from '../database/page-statement';
import { ConversationKey, ErasedMessages } from '../database/tables/table-declaration';
import { ERRORS_BY_CODE } from '../common/message-status';
import { MessageEntity } from './message.entity';
import { hasStatusSubscriberSql, StatusEvents } from './status-events';

export type ListedMessage = Pick<
  MessageEntity,
  | 'id'
  | 'repeatsId'
  | 'senderType'
  | 'senderAgentId'
  | 'body'
  | 'createdAt'
  | 'deliveryStatus'
  | 'deliveryError'
  | 'firstBody'
  | 'editedAt'
  | 'unsentAt'
  | 'dismissedAt'
  | 'reactions'
  | 'attachmentCount'
  | 'isDescribed'
>;

/** Message with the provider's content other than text, and with the texts that edits have replaced. */
export type KeptMessage = ListedMessage & Pick<MessageEntity, 'metadata' | 'replacedBodies'>;

/** Messages of one conversation with ids between two ids, both exclusive. */
export interface MessageRange extends ConversationKey {
  after: string;
  before: string;
}

const LISTED = `id, repeats_id AS "repeatsId", sender_type AS "senderType", sender_agent_id AS "senderAgentId", body, created_at AS "createdAt",
  delivery_status AS "deliveryStatus", delivery_error AS "deliveryError", first_body AS "firstBody",
  edited_at AS "editedAt", unsent_at AS "unsentAt", dismissed_at AS "dismissedAt", reactions,
  attachment_count AS "attachmentCount", is_described AS "isDescribed"`;

/**
 * SQL that counts a workspace's messages that wait to be sent, up to 1,001. The order is that of the partial
 * index on such messages, so that PostgreSQL chooses it and reads no other workspace's rows.
 */
const COUNT_WAITING = boundedCount(
  `SELECT FROM messages WHERE tenant_id = $1 AND delivery_status IN ('QUEUED', 'SENDING')
   ORDER BY conversation_id, id`,
);

@Injectable()
export class MessagesRepository {
  constructor(
    private readonly database: Database,
    private readonly events: StatusEvents,
  ) {}

  /** Lists up to `count` messages of a conversation with ids below the cursor, newest first. */
  list(
    tenantId: string,
    conversationId: string,
    cursor: string | undefined,
    count: number,
  ): Promise<ListedMessage[]> {
    return new PageStatement(LISTED, 'messages')
      .where('tenant_id = ?', tenantId)
      .where('conversation_id = ?', conversationId)
      .read(this.database, cursor, count);
  }

  /** Returns the agents who wrote the given messages, and how many attachments these have, by message. */
  async findOrigins(
    tenantId: string,
    conversationIds: string[],
    ids: string[],
  ): Promise<Map<string, Pick<MessageEntity, 'senderAgentId' | 'attachmentCount'>>> {
    if (ids.length === 0) return new Map();
    const rows = await this.database.pipelinedRead<
      Pick<MessageEntity, 'id' | 'senderAgentId' | 'attachmentCount'>
    >(
      `SELECT id, sender_agent_id AS "senderAgentId", attachment_count AS "attachmentCount" FROM messages
       WHERE tenant_id = $1 AND conversation_id = ANY ($2) AND id = ANY ($3)`,
      [tenantId, conversationIds, ids],
    );
    return new Map(rows.map(({ id, ...origin }) => [id, origin]));
  }

  /** Counts a workspace's messages that wait to be sent; 1,001 stands for more than 1,000. */
  async countWaiting(tenantId: string): Promise<number> {
    const [row] = await this.database.pipelinedRead<{ count: number }>(COUNT_WAITING, [tenantId]);
    return row!.count;
  }

  /**
   * Reports whether a sender other than the agent `agentId` has answered in a conversation after the message
   * `after`. Reads only the conversation's newest 100 messages.
   */
  async hasOtherAnswer(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    after: string,
    agentId: string,
  ): Promise<boolean> {
    const found = await tx.query(
      `SELECT 1 FROM (SELECT sender_type, sender_agent_id FROM messages
                      WHERE tenant_id = $1 AND conversation_id = $2 AND id > $3 ORDER BY id DESC LIMIT 100) AS latest
       WHERE sender_type <> 'CUSTOMER' AND sender_agent_id IS DISTINCT FROM $4 LIMIT 1`,
      [tenantId, conversationId, after, agentId],
    );
    return found.length > 0;
  }

  insertPipelined(tx: Transaction, message: MessageEntity): Pipelined {
    const { deliveryError, metadata } = message;
    return tx.pipeline(
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                             delivery_error, metadata, created_at, repeats_id, attachment_count,
                             is_described)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
      [
        message.tenantId,
        message.conversationId,
        message.id,
        message.senderType,
        message.senderAgentId,
        message.body,
        message.deliveryStatus,
        deliveryError && JSON.stringify(deliveryError),
        metadata && JSON.stringify(metadata),
        message.createdAt,
        message.repeatsId,
        message.attachmentCount,
        message.isDescribed,
      ],
    );
  }

  /** Lists up to `count` messages of a conversation with ids above `after`, oldest first. */
  listFrom(
    { tenantId, conversationId }: ConversationKey,
    after: string,
    count: number,
  ): Promise<KeptMessage[]> {
    return this.database.query<KeptMessage>(
      `SELECT ${LISTED}, metadata, replaced_bodies AS "replacedBodies" FROM messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND id > $3 ORDER BY id LIMIT $4`,
      [tenantId, conversationId, after, count],
    );
  }

  /** Lists the ids of the oldest `count` messages in a range, oldest first. */
  async listIds(tx: Transaction, range: MessageRange, count: number): Promise<string[]> {
    const { tenantId, conversationId, after, before } = range;
    const rows = await tx.query<{ id: string }>(
      `SELECT id FROM messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND id > $3 AND id < $4 ORDER BY id LIMIT $5`,
      [tenantId, conversationId, after, before, count],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Lists up to `count` conversations of a workspace with ids above `after`, in the order of their ids.
   * Leaves out conversations with ids above `until`, because their messages have still higher ids.
   * @returns for each, whether it has messages, events or notes with ids between `from` and `until`
   *   (`hasExpired`)
   */
  findConversations(
    tx: Transaction,
    tenantId: string,
    { from, until }: { from: string; until: string },
    after: string,
    count: number,
  ): Promise<{ id: string; hasExpired: boolean }[]> {
    // These SELECTs are not in EXISTS, because PostgreSQL may build a hash table for it, from all rows of the
    // workspace between the ids.
    return tx.query(
      `SELECT c.id, coalesce(
         (SELECT true FROM messages m WHERE m.tenant_id = $1 AND m.conversation_id = c.id
          AND m.id > $3 AND m.id < $4 LIMIT 1),
         (SELECT true FROM events e WHERE e.tenant_id = $1 AND e.data->>'conversationId' = c.id::text
          AND e.id > $3 AND e.id < $4 LIMIT 1),
         (SELECT true FROM notes n WHERE n.tenant_id = $1 AND n.conversation_id = c.id
          AND n.id > $3 AND n.id < $4 LIMIT 1), false) AS "hasExpired"
       FROM (SELECT id FROM conversations WHERE tenant_id = $1 AND id > $2 AND id < $4
             ORDER BY id LIMIT $5) AS c ORDER BY c.id`,
      [tenantId, after, from, until, count],
    );
  }

  /**
   * Erases texts, metadata and reactions of messages, and the provider's words in their errors. Messages that
   * wait to be sent become FAILED, except those with ids in `beingSent`. A statement of its own locks the
   * rows, because PostgreSQL would read the whole conversation for each message in a single statement.
   * @returns how many messages had a body
   */
  async erase(
    tx: Transaction,
    { tenantId, conversationId, ids }: ErasedMessages,
    beingSent: string[],
  ): Promise<number> {
    const isUnsent = `(delivery_status IN ('QUEUED', 'SENDING') AND id <> ALL ($4::uuid[]))`;
    const due = await tx.query<{ id: string; hasBody: boolean; isUnsent: boolean; hasSubscriber: boolean }>(
      `SELECT id, body <> '' AS "hasBody", ${isUnsent} AS "isUnsent", ${hasStatusSubscriberSql('$1')} AS "hasSubscriber" FROM messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND id = ANY ($3)
         AND (body <> '' OR attachment_count > 0 OR metadata IS NOT NULL OR first_body IS NOT NULL OR reactions IS NOT NULL
              OR delivery_error IS NOT NULL OR ${isUnsent})
       ORDER BY id FOR NO KEY UPDATE`,
      [tenantId, conversationId, ids, beingSent],
    );
    if (due.length === 0) return 0;
    await tx.query(
      `UPDATE messages SET body = '', metadata = NULL, attachment_count = 0, first_body = NULL, replaced_bodies = NULL, reactions = NULL,
         delivery_status = CASE WHEN ${isUnsent} THEN 'FAILED' ELSE delivery_status END,
         delivery_error = CASE WHEN ${isUnsent} THEN $5::jsonb->'ERASED' ELSE coalesce(
           $5::jsonb->(delivery_error->>'code'), delivery_error || '{"providerCode": null, "message": ""}') END
       WHERE tenant_id = $1 AND conversation_id = $2 AND id = ANY ($3)`,
      [tenantId, conversationId, due.map(({ id }) => id), beingSent, ERRORS_BY_CODE],
    );
    const failed = due
      .filter((message) => message.isUnsent)
      .map(({ id, hasSubscriber }) => ({
        conversationId,
        messageId: id,
        errorCode: 'ERASED' as const,
        hasSubscriber,
      }));
    this.events.appendPipelined(tx, tenantId, 'FAILED', failed);
    return due.filter(({ hasBody }) => hasBody).length;
  }
}
