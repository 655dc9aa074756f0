import { Injectable } from '@nestjs/common';
import { Pipelined, Transaction } from '../../database/transaction';
import { DeliveryErrorCode } from '../../messages/message-status';
import { MessageKey, STATUS_BY_KEY } from '../../messages/message-status.repository';
import { ConversationKey } from '../../stored-data/table-declaration';
import { endOfHolds, firstUnsent, recipientOf, wasConnected } from './outbound-messages.repository';

/**
 * Messages of one workspace that were enqueued at one connection, or failed for one reason.
 */
export interface RoutedMessages {
  tenantId: string;
  connectionId: string | null;
  code: DeliveryErrorCode | null;
  /** Conversations of the failed messages; null for enqueued ones. */
  conversationIds: string[] | null;
  messageIds: string[] | null;
}

/**
 * Locks the first unsent message of each conversation, with the holds before it. It looks for none where
 * there can be none: beside a snapshot that is held open, it would read all messages that were sent since.
 */
const LOCK_FIRST = `
  SELECT FROM unnest($1::uuid[], $2::uuid[]) AS c (tenant_id, id), LATERAL (
    SELECT FROM outbound_messages d
    WHERE ${wasConnected('c.id', 'c.tenant_id')} AND d.tenant_id = c.tenant_id AND d.conversation_id = c.id
      AND d.message_id <= (${firstUnsent('c.id', 'c.tenant_id')})
    ORDER BY d.message_id FOR SHARE) first`;

/**
 * SQL that joins the connection `w`, if there is one, over which a conversation `c` sends. The workspace is
 * $1 by default.
 */
export const routeOf = (tenantId = '$1') => `
  LEFT JOIN channel_connections w
    ON w.tenant_id = ${tenantId} AND w.channel = c.source_channel AND w.status <> 'DISCONNECTED'`;

/**
 * SQL of the code with which a conversation `c` can't send over its connection `w`; null if it can. The
 * workspace is $1 by default.
 */
export const routeFault = (tenantId = '$1') => `
  CASE WHEN w.id IS NULL THEN 'NO_CONNECTION' WHEN w.status <> 'ACTIVE' THEN 'REAUTH_REQUIRED'
       WHEN ${recipientOf(tenantId)} IS NULL THEN 'NO_RECIPIENT' END`;

const ENQUEUE = `
  WITH selected AS (
    SELECT m.tenant_id, m.conversation_id, m.id
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS f (tenant_id, conversation_id, id)
    JOIN messages m ON m.tenant_id = f.tenant_id AND m.conversation_id = f.conversation_id AND m.id = f.id
    WHERE ${STATUS_BY_KEY} = 'QUEUED'
    ORDER BY m.tenant_id, m.conversation_id, m.id FOR NO KEY UPDATE OF m
  ), routed AS (
    SELECT s.*, w.id AS connection_id,
      ${routeFault('s.tenant_id')} AS code
    FROM selected s JOIN conversations c ON c.tenant_id = s.tenant_id AND c.id = s.conversation_id
    ${routeOf('s.tenant_id')}
  ), ordered AS MATERIALIZED (
    SELECT r.*, (${firstUnsent('r.conversation_id', 'r.tenant_id')}) AS first_id FROM routed r WHERE code IS NULL
  ), queued AS (
    INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, waits, next_attempt_at)
    SELECT tenant_id, conversation_id, id, connection_id, id <> first_id,
           greatest(now(), (${endOfHolds('o.conversation_id', 'o.first_id', 'o.tenant_id')}))
    FROM ordered o
    ON CONFLICT DO NOTHING
  )
  SELECT tenant_id AS "tenantId", CASE WHEN code IS NULL THEN connection_id END AS "connectionId", code,
         array_agg(conversation_id) FILTER (WHERE code IS NOT NULL) AS "conversationIds",
         array_agg(id) FILTER (WHERE code IS NOT NULL) AS "messageIds"
  FROM routed GROUP BY 1, 2, 3`;

/** Inserts agents' messages among the outbound messages of their connections. */
@Injectable()
export class RoutedMessagesRepository {
  /** Returns those of the workspaces that have, or had, a connection of any channel. */
  async findConnected(tx: Transaction, tenantIds: string[]): Promise<Set<string>> {
    const rows = await tx.prepared<{ id: string }>(
      'SELECT tenant_id AS id FROM channel_connections WHERE tenant_id = ANY ($1::uuid[]) GROUP BY tenant_id',
      [tenantIds],
    );
    return new Set(rows.map(({ id }) => id));
  }

  /**
   * Locks what comes first in each conversation, so that it does not end unseen: its end lets the next
   * message go.
   */
  lockFirstPipelined(tx: Transaction, conversations: ConversationKey[]): Pipelined {
    return tx.pipeline(LOCK_FIRST, [
      conversations.map(({ tenantId }) => tenantId),
      conversations.map(({ conversationId }) => conversationId),
    ]);
  }

  /**
   * Enqueues those of the messages that are QUEUED and have a connection and a recipient. Enqueueing a
   * message again changes nothing.
   * @returns the enqueued messages, and those that can't be sent, with the reason
   */
  enqueue(tx: Transaction, keys: MessageKey[]): Promise<RoutedMessages[]> {
    return tx.prepared<RoutedMessages>(ENQUEUE, [
      keys.map(({ tenantId }) => tenantId),
      keys.map(({ conversationId }) => conversationId),
      keys.map(({ messageId }) => messageId),
    ]);
  }
}
