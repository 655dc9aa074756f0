import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { Batch, workspaceOf, writtenOnce } from '../../database/key-list';
import { Pipelined, Transaction } from '../../database/transaction';
import { DeliveryErrorCode } from '../../common/message-status';
import { failClaimedSql, MessageKey, STATUS_BY_KEY } from '../../messages/message-status.repository';
import { ConversationKey } from '../../database/tables/table-declaration';
import { endOfHolds, firstUnsent, routeFault, routeOf, wasConnected } from './queue-conditions';

/** Message with the connection over which it is sent, or the code with which it fails. */
export type RoutedMessage = MessageKey &
  ({ connectionId: string; code: null } | { connectionId: null; code: DeliveryErrorCode });

type Route = RoutedMessage & {
  /** Whether the message waits for an earlier one of its conversation; null if the message fails. */
  waits: boolean | null;
  /** Time until which earlier messages delay this one, precise to the microsecond; null for no delay. */
  heldUntil: string | null;
};

/**
 * SQL that locks the queue's rows up to the first unsent message, in workspaces $1 and conversations $2.
 * Skips channels that were never connected, because looking for their rows could read many dead rows.
 */
const lockFirstIn = writtenOnce(
  (batch) => `
  SELECT FROM unnest($1::uuid[], $2::uuid[]) AS c (tenant_id, id), LATERAL (
    SELECT 1 FROM outbound_messages d
    WHERE ${wasConnected('c.id', workspaceOf('c', '$1', batch))}
      AND d.tenant_id = ${workspaceOf('c', '$1', batch)} AND d.conversation_id = c.id
      AND d.message_id <= (${firstUnsent('c.id', workspaceOf('c', '$1', batch))})
    ORDER BY d.message_id FOR SHARE) first`,
);

/**
 * SQL that locks the given messages (workspaces $1, conversations $2, ids $3) if they are QUEUED, and selects
 * the connection or the error code of each.
 */
const routeIn = writtenOnce(
  (batch) => `
  WITH selected AS (
    SELECT m.tenant_id, m.conversation_id, m.id
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS f (tenant_id, conversation_id, id)
    JOIN messages m ON m.tenant_id = ${workspaceOf('f', '$1', batch)} AND m.conversation_id = f.conversation_id
      AND m.id = f.id
    WHERE ${STATUS_BY_KEY} = 'QUEUED'
    ORDER BY m.tenant_id, m.conversation_id, m.id FOR NO KEY UPDATE OF m
  ), routed AS (
    SELECT s.*, w.id AS connection_id,
      ${routeFault(workspaceOf('s', '$1', batch))} AS code
    FROM selected s JOIN conversations c ON c.tenant_id = ${workspaceOf('s', '$1', batch)} AND c.id = s.conversation_id
    ${routeOf(workspaceOf('s', '$1', batch))}
  ), ordered AS MATERIALIZED (
    SELECT r.*, CASE WHEN code IS NULL THEN (
      ${firstUnsent('r.conversation_id', workspaceOf('r', '$1', batch))}) END AS first_id FROM routed r
  )
  SELECT tenant_id AS "tenantId", conversation_id AS "conversationId", id AS "messageId", code,
         CASE WHEN code IS NULL THEN connection_id END AS "connectionId", id <> first_id AS waits,
         (${endOfHolds('o.conversation_id', 'o.first_id', workspaceOf('o', '$1', batch))})::text AS "heldUntil"
  FROM ordered o`,
);

const enqueueIn = writtenOnce(
  (batch) => `
  INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, waits, next_attempt_at)
  SELECT t.id, n.conversation_id, n.message_id, n.connection_id, n.waits, greatest(now(), n.held_until)
  FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::boolean[], $6::timestamptz[])
    AS n (tenant_id, conversation_id, message_id, connection_id, waits, held_until)
  JOIN workspaces t ON t.id = ${workspaceOf('n', '$1', batch)}
  ON CONFLICT DO NOTHING`,
);

/**
 * Returns SQL for `ClaimHandler.handleSql`: it fails agents' messages of workspaces that never had a
 * connection. An event of a message has the message's id.
 */
export const failUnconnectedSql = (batch: Batch) =>
  failClaimedSql(
    'NO_CONNECTION',
    `e.type = 'message.created' AND e.data->'message'->>'senderType' = 'AGENT'
     AND NOT EXISTS (SELECT FROM channel_connections w WHERE w.tenant_id = ${workspaceOf('e', '$1', batch)})`,
    batch,
  );

/** Inserts agents' messages into the table `outbound_messages`. */
@Injectable()
export class RoutedMessagesRepository {
  constructor(private readonly database: Database) {}

  /** Locks each conversation's first unsent message, so that it stays until the next one is inserted. */
  lockFirstPipelined(tx: Transaction, conversations: ConversationKey[]): Pipelined {
    return tx.pipeline(lockFirstIn(this.database), [
      conversations.map(({ tenantId }) => tenantId),
      conversations.map(({ conversationId }) => conversationId),
    ]);
  }

  /**
   * Inserts the messages that are QUEUED and have a connection and a recipient. Idempotent.
   * @returns the inserted messages, and the messages that cannot be sent
   */
  async enqueue(tx: Transaction, keys: MessageKey[]): Promise<RoutedMessage[]> {
    const routes = await tx.prepared<Route>(routeIn(this.database), [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ conversationId }) => conversationId),
      keys.map(({ messageId }) => messageId),
    ]);
    const enqueued = routes.filter(({ code }) => code === null);
    if (enqueued.length > 0) {
      tx.pipeline(enqueueIn(this.database), [
        enqueued.map(({ tenantId }) => tenantId),
        enqueued.map(({ conversationId }) => conversationId),
        enqueued.map(({ messageId }) => messageId),
        enqueued.map(({ connectionId }) => connectionId),
        enqueued.map(({ waits }) => waits),
        enqueued.map(({ heldUntil }) => heldUntil),
      ]);
    }
    return routes;
  }
}
