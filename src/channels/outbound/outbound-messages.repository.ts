import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Target } from '../../queue/target';
import { Connection } from '../adapters/channel-adapter';
import { LoadedConnection } from '../connections/connection.loader';
import { ClaimedMessage, MessageKey } from './claimed-message';

/** Longer than an attempt can take. When it expires, as after a killed worker, the outcome is unknown. */
const LEASE = `interval '20 seconds'`;

/**
 * A message `d` is the first unsent one of its conversation, and none before it holds the conversation. In this order:
 * of many pending messages, only the first needs the second check.
 */
const IS_NEXT = `
  CASE WHEN d.message_id = (
    SELECT m.id FROM messages m
    WHERE m.tenant_id = d.tenant_id AND m.conversation_id = d.conversation_id
      AND m.delivery_status IN ('QUEUED', 'SENDING')
    ORDER BY m.id LIMIT 1)
  THEN NOT EXISTS (
    SELECT FROM message_dispatches h
    WHERE h.tenant_id = d.tenant_id AND h.conversation_id = d.conversation_id AND h.message_id < d.message_id
      AND h.holds_until > now())
  ELSE false END`;

/** A message `d` can be claimed, if its connection may send. */
export const IS_READY = `
  d.next_attempt_at <= now() AND d.lease_id IS NULL AND d.holds_until IS NULL AND ${IS_NEXT}`;

/** A connection `w` may send. */
export const MAY_SEND = `w.status = 'ACTIVE' AND (w.paused_until IS NULL OR w.paused_until <= now())`;

/** The recipient in a conversation `c`: its own identity, or else the contact's latest one. */
export const RECIPIENT = `
  coalesce(c.identity_external_id, (
    SELECT i.external_id FROM contact_identities i
    WHERE i.tenant_id = c.tenant_id AND i.contact_id = c.contact_id AND i.channel = c.source_channel
    ORDER BY i.created_at DESC, i.external_id LIMIT 1))`;

/**
 * The status of a message `m` that is found by its key. The function keeps PostgreSQL from using a partial index on the
 * status: by its stale statistics the index is empty, so it would read all of it.
 */
export const STATUS_BY_KEY = `coalesce(m.delivery_status, '')`;

const BY_KEY = 'tenant_id = $1 AND conversation_id = $2 AND message_id = $3';
const UP_TO = 'tenant_id = $1 AND conversation_id = $2 AND message_id <= $3';

/**
 * The rows of message_dispatches: outbound messages that are pending, leased, or hold their conversation. Times are the
 * database's own. To avoid deadlocks, every transaction locks the connection first, then these rows, then messages.
 */
@Injectable()
export class OutboundMessagesRepository {
  constructor(private readonly database: Database) {}

  /** Counts the messages that a connection can claim now, up to `limit`; 0 also when it may not send. */
  async countReady({ tenantId, id }: Target, limit: number): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `SELECT (
         SELECT count(*)::integer FROM (
           SELECT FROM message_dispatches d
           WHERE d.tenant_id = $1 AND d.connection_id = $2 AND ${IS_READY} LIMIT $3) r) AS count
       FROM channel_connections w WHERE w.tenant_id = $1 AND w.id = $2 AND ${MAY_SEND}`,
      [tenantId, id, limit],
    );
    return row?.count ?? 0;
  }

  /** Claims up to `count` messages under a new lease, the longest due first. They become SENDING. */
  async claim(connection: LoadedConnection, count: number): Promise<ClaimedMessage[]> {
    const leaseId = newId();
    const rows = await this.database.query<Omit<ClaimedMessage, 'connection' | 'leaseId'>>(
      `WITH ready AS (
         SELECT d.tenant_id, d.conversation_id, d.message_id FROM message_dispatches d
         WHERE d.connection_id = $1 AND ${IS_READY}
           AND (SELECT ${MAY_SEND} FROM channel_connections w WHERE w.id = $1)
         ORDER BY d.next_attempt_at, d.message_id LIMIT $2 FOR UPDATE OF d SKIP LOCKED
       ), leased AS (
         UPDATE message_dispatches d SET lease_id = $3, lease_until = now() + ${LEASE}
         FROM ready r
         WHERE d.tenant_id = r.tenant_id AND d.conversation_id = r.conversation_id AND d.message_id = r.message_id
         RETURNING d.tenant_id, d.conversation_id, d.message_id, d.attempt_count
       )
       UPDATE messages m SET delivery_status = 'SENDING'
       FROM leased l JOIN conversations c ON c.tenant_id = l.tenant_id AND c.id = l.conversation_id
       WHERE m.tenant_id = l.tenant_id AND m.conversation_id = l.conversation_id AND m.id = l.message_id
       RETURNING m.tenant_id AS "tenantId", m.conversation_id AS "conversationId", m.id AS "messageId",
                 l.attempt_count AS "attemptCount", ${RECIPIENT} AS "recipientId", m.body,
                 m.created_at AS "createdAt", now() AS "claimedAt"`,
      [connection.id, count, leaseId],
    );
    return rows.map((row) => ({ ...row, connection, leaseId }));
  }

  /** Releases a claimed message without an attempt. */
  async release(message: ClaimedMessage): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.query(
        `UPDATE message_dispatches SET lease_id = NULL, lease_until = NULL, next_attempt_at = now()
         WHERE ${BY_KEY} AND lease_id = $4`,
        [...keyOf(message), message.leaseId],
      );
      await this.deleteSettledUpTo(tx, message);
    });
  }

  /** Releases a message after a failed attempt. Deletes it instead if a receipt has come meanwhile. */
  async scheduleRetry(tx: Transaction, message: ClaimedMessage, delayMs: number): Promise<void> {
    await tx.query(
      `UPDATE message_dispatches SET lease_id = NULL, lease_until = NULL, attempt_count = attempt_count + 1,
         next_attempt_at = now() + $5 * interval '1 millisecond'
       WHERE ${BY_KEY} AND lease_id = $4`,
      [...keyOf(message), message.leaseId, delayMs],
    );
    await this.deleteSettledUpTo(tx, message);
  }

  /** Locks a conversation's pending and leased messages, up to one. */
  async lockUpTo(tx: Transaction, key: MessageKey): Promise<void> {
    await tx.query(
      `SELECT FROM message_dispatches WHERE ${UP_TO} AND holds_until IS NULL ORDER BY message_id FOR UPDATE`,
      keyOf(key),
    );
  }

  /**
   * Deletes a conversation's pending messages, up to one, whose outcome a receipt has reported: they could never be
   * claimed. A leased message is left to its worker.
   */
  async deleteSettledUpTo(tx: Transaction, key: MessageKey): Promise<void> {
    await tx.query(
      `DELETE FROM message_dispatches WHERE ${UP_TO} AND lease_id IS NULL AND holds_until IS NULL AND EXISTS (
         SELECT FROM messages m
         WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id = message_dispatches.message_id
           AND m.delivery_status NOT IN ('QUEUED', 'SENDING'))`,
      keyOf(key),
    );
  }

  /** Ends a message's sending. With a hold, its conversation's next message waits that long. */
  async finish(tx: Transaction, key: MessageKey, holdMs = 0): Promise<void> {
    if (holdMs === 0) {
      await tx.query(`DELETE FROM message_dispatches WHERE ${BY_KEY}`, keyOf(key));
      return;
    }
    await tx.query(
      `UPDATE message_dispatches
       SET lease_id = NULL, lease_until = NULL, holds_until = now() + $4 * interval '1 millisecond'
       WHERE ${BY_KEY}`,
      [...keyOf(key), holdMs],
    );
  }

  async lock(tx: Transaction, key: MessageKey): Promise<{ isLeased: boolean } | null> {
    const [row] = await tx.query<{ isLeased: boolean }>(
      `SELECT lease_id IS NOT NULL AS "isLeased" FROM message_dispatches WHERE ${BY_KEY} FOR UPDATE`,
      keyOf(key),
    );
    return row ?? null;
  }

  async pauseConnection(tx: Transaction, { tenantId, id }: Connection, delayMs: number): Promise<void> {
    await tx.query(
      `UPDATE channel_connections
       SET paused_until = greatest(paused_until, now() + $3 * interval '1 millisecond')
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, delayMs],
    );
  }
}

function keyOf({ tenantId, conversationId, messageId }: MessageKey): string[] {
  return [tenantId, conversationId, messageId];
}
