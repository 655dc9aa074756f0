import { Injectable } from '@nestjs/common';
import { startByFromNow } from '../../queue/start-capacity';
import { newId } from '../../common/ids';
import { Database } from '../../database/database';
import { Pipelined, Transaction } from '../../database/transaction';
import { keyParameters, MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { ErasedMessages } from '../../database/tables/table-declaration';
import { QueueFloors, SubQueue } from '../../queue/floors/queue-floors';
import { Target } from '../../queue/targets';
import { LoadedConnection } from '../connections/connection-loader';
import { ClaimedMessage } from './claimed-message';
import { endOfHolds, firstUnsent, recipientOf, wasConnected } from './queue-conditions';

/** Duration of a lease, longer than an attempt can take. If it passes, the message's outcome is unknown. */
const LEASE = `interval '20 seconds'`;

/**
 * SQL condition: row `d` of outbound_messages can be claimed for connection $2 of workspace $1, and is due
 * after $4. The last two lines check that no earlier message delays it, because the column `waits` can be
 * wrong.
 */
const IS_READY = `
  d.tenant_id = $1 AND d.connection_id = $2 AND NOT d.waits AND d.next_attempt_at > $4 AND d.next_attempt_at <= now()
  AND d.lease_id IS NULL AND NOT d.holds
  AND d.message_id = (${firstUnsent('d.conversation_id')})
  AND coalesce((${endOfHolds('d.conversation_id', 'd.message_id')}) <= now(), true)`;

/** Selects a row if connection $2 is active and not paused, and workspace $1 is not suspended. */
const MAY_SEND = `
  SELECT FROM channel_connections w JOIN workspaces t ON t.id = $1 AND t.suspended_at IS NULL
  WHERE w.tenant_id = $1 AND w.id = $2 AND w.status = 'ACTIVE' AND (w.paused_until IS NULL OR w.paused_until <= now())`;

const BY_KEY = 'tenant_id = $1 AND conversation_id = $2 AND message_id = $3';
const UP_TO = 'tenant_id = $1 AND conversation_id = $2 AND message_id <= $3';

type LeasedMessage = MessageKey & Pick<ClaimedMessage, 'leaseId'>;
type ReadyMessage = Pick<ClaimedMessage, 'conversationId' | 'messageId' | 'attemptCount' | 'claimedAt'>;

/**
 * Writes outbound_messages, the queue of agents' messages. A row is a message that waits for an earlier one,
 * is pending or is being sent (leased); or it is a hold, which only delays its conversation's later messages.
 * All times are the database's. To avoid deadlocks, every transaction locks these rows before rows of
 * `messages`.
 */
@Injectable()
export class OutboundMessagesRepository {
  constructor(
    private readonly database: Database,
    private readonly statuses: MessageStatusRepository,
    private readonly floors: QueueFloors,
  ) {}

  /** Counts up to `limit` messages that a connection can claim now; 0 if it may not send. */
  countReady({ tenantId, id }: Target, limit: number): Promise<number> {
    return this.database.orderedTransaction(async (tx) => {
      const [row] = await tx.prepared<{ count: number }>(
        `SELECT count(*)::integer FROM (
           SELECT FROM outbound_messages d WHERE EXISTS (${MAY_SEND}) AND ${IS_READY}
           ORDER BY d.next_attempt_at, d.message_id LIMIT $3) ready`,
        [tenantId, id, limit, this.floors.startOfClaim(messagesSubQueue(tenantId, id))],
      );
      return row!.count;
    });
  }

  /**
   * Claims up to `count` messages under a new lease, the earliest due first. Locks connection and workspace
   * FOR KEY SHARE, so that a concurrent disconnect or suspension waits for the claim, or the claim finds
   * nothing.
   */
  claim(connection: LoadedConnection, count: number): Promise<ClaimedMessage[]> {
    const leaseId = newId();
    return this.database.orderedTransaction(async (tx) => {
      const ready = await tx.prepared<ReadyMessage>(
        `WITH sending AS (${MAY_SEND} FOR KEY SHARE)
         SELECT d.conversation_id AS "conversationId", d.message_id AS "messageId", d.attempt_count AS "attemptCount",
                now() AS "claimedAt"
         FROM outbound_messages d WHERE EXISTS (SELECT FROM sending) AND ${IS_READY}
         ORDER BY d.next_attempt_at, d.message_id LIMIT $3 FOR UPDATE OF d SKIP LOCKED`,
        [
          connection.tenantId,
          connection.id,
          count,
          this.floors.startOfClaim(messagesSubQueue(connection.tenantId, connection.id)),
        ],
      );
      const claimed = ready.map((message) => this.lease(tx, connection, leaseId, message));
      const rows = (await Promise.all(claimed)).flat();
      const startBy = startByFromNow();
      return rows.map((row) => ({ ...row, connection, leaseId, startBy }));
    });
  }

  /**
   * Leases one message by a statement of its own. With a join to a list of keys, PostgreSQL would read all
   * messages of a workspace that is too new for its statistics (500 keys, 8,000 messages: 2 s instead of 20
   * ms).
   */
  private async lease(
    tx: Transaction,
    { tenantId }: LoadedConnection,
    leaseId: string,
    { conversationId, messageId, attemptCount, claimedAt }: ReadyMessage,
  ) {
    const key = { tenantId, conversationId, messageId };
    const [[leased], message] = await Promise.all([
      tx.prepared<Pick<ClaimedMessage, 'recipientId'>>(
        `UPDATE outbound_messages d SET lease_id = $4, next_attempt_at = now() + ${LEASE} FROM conversations c
         WHERE d.tenant_id = $1 AND d.conversation_id = $2 AND d.message_id = $3 AND c.tenant_id = $1 AND c.id = $2
         RETURNING ${recipientOf()} AS "recipientId"`,
        [tenantId, conversationId, messageId, leaseId],
      ),
      this.statuses.startSending(tx, key),
    ]);
    return leased && message ? [{ ...key, ...leased, ...message, attemptCount, claimedAt }] : [];
  }

  /** Extends a lease, and locks its row. Returns false if the lease is lost. */
  async extendLease(tx: Transaction, message: LeasedMessage): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE outbound_messages SET next_attempt_at = now() + ${LEASE} WHERE ${BY_KEY} AND lease_id = $4 RETURNING 1`,
      [...keyParameters(message), message.leaseId],
    );
    return rows.length > 0;
  }

  async release(message: ClaimedMessage): Promise<void> {
    await this.database.queueTransaction(async (tx) => {
      await tx.query(
        `UPDATE outbound_messages SET lease_id = NULL, next_attempt_at = now() WHERE ${BY_KEY} AND lease_id = $4`,
        [...keyParameters(message), message.leaseId],
      );
      await this.deleteSettledUpTo(tx, message);
    });
  }

  /** Releases a message for a retry. Deletes its row instead if a receipt has reported the outcome. */
  async scheduleRetry(tx: Transaction, message: LeasedMessage, delayMs: number): Promise<void> {
    await tx.query(
      `UPDATE outbound_messages SET lease_id = NULL, attempt_count = attempt_count + 1,
         next_attempt_at = now() + $5 * interval '1 millisecond'
       WHERE ${BY_KEY} AND lease_id = $4`,
      [...keyParameters(message), message.leaseId, delayMs],
    );
    await this.deleteSettledUpTo(tx, message);
  }

  /** Locks the rows of a conversation's messages up to and including the given one. Does not lock holds. */
  async lockUpTo(tx: Transaction, key: MessageKey): Promise<void> {
    await tx.query(
      `SELECT FROM outbound_messages WHERE ${UP_TO} AND NOT holds ORDER BY message_id FOR UPDATE`,
      keyParameters(key),
    );
  }

  /**
   * Deletes a conversation's pending rows, up to a message, if a receipt has reported their outcome, because
   * such rows could never be claimed. Leaves leased rows to their worker.
   */
  async deleteSettledUpTo(tx: Transaction, key: MessageKey): Promise<void> {
    const deleted = await tx.query(
      `DELETE FROM outbound_messages d WHERE ${UP_TO} AND lease_id IS NULL AND NOT holds AND EXISTS (
         SELECT FROM messages m
         WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id = d.message_id
           AND m.delivery_status NOT IN ('QUEUED', 'SENDING'))
       RETURNING 1`,
      keyParameters(key),
    );
    if (deleted.length > 0) this.moveUpPipelined(tx, key.tenantId, key.conversationId);
  }

  /** Removes a message from the queue. The conversation's next message is due now, or after `holdMs`. */
  finish(tx: Transaction, key: MessageKey, end: { holdMs?: number; leaseId?: string } = {}): void {
    this.endPipelined(tx, key, end);
    this.moveUpPipelined(tx, key.tenantId, key.conversationId);
  }

  /**
   * Deletes a message's row, or turns it into a hold of `holdMs` milliseconds.
   * @param end.leaseId changes nothing unless the row is under this lease
   */
  endPipelined(
    tx: Transaction,
    key: MessageKey,
    { holdMs = 0, leaseId }: { holdMs?: number; leaseId?: string } = {},
  ): Pipelined {
    const underLease = `${BY_KEY} AND ($4::uuid IS NULL OR lease_id = $4)`;
    const parameters = [...keyParameters(key), leaseId ?? null];
    if (holdMs === 0) return tx.pipeline(`DELETE FROM outbound_messages WHERE ${underLease}`, parameters);
    return tx.pipeline(
      `UPDATE outbound_messages SET lease_id = NULL, waits = false, holds = true,
         next_attempt_at = now() + $5 * interval '1 millisecond'
       WHERE ${underLease}`,
      [...parameters, holdMs],
    );
  }

  /**
   * Makes a conversation's first unsent message due, now or at the end of the last hold before it. The caller
   * must do this whenever it ends an earlier message, while it holds the lock of that message's row.
   * @returns the message's connection
   */
  moveUpPipelined(tx: Transaction, tenantId: string, conversationId: string): Pipelined<{ id: string }> {
    return tx.pipeline<{ id: string }>(
      `WITH first AS (
         SELECT first.id FROM (${firstUnsent('$2')}) AS first WHERE ${wasConnected('$2')}
       ), due AS (
         SELECT f.id, greatest(now(), (${endOfHolds('$2', 'f.id')})) AS due_at FROM first f
       )
       UPDATE outbound_messages d SET waits = false, next_attempt_at = due.due_at FROM due
       WHERE d.tenant_id = $1 AND d.conversation_id = $2 AND d.message_id = (SELECT id FROM due)
         AND d.attempt_count = 0 AND d.lease_id IS NULL AND (d.waits OR d.next_attempt_at > due.due_at)
       RETURNING d.connection_id AS id`,
      [tenantId, conversationId],
    );
  }

  async lock(tx: Transaction, key: MessageKey): Promise<{ isLeased: boolean } | null> {
    const [row] = await tx.query<{ isLeased: boolean }>(
      `SELECT lease_id IS NOT NULL AS "isLeased" FROM outbound_messages WHERE ${BY_KEY} FOR UPDATE`,
      keyParameters(key),
    );
    return row ?? null;
  }

  /**
   * Deletes messages from the queue, except leased ones and holds. Later messages of the conversation become
   * due at the next search for conversations in which every message waits.
   * @returns the ids of leased messages, which a worker may be sending
   */
  async cancel(tx: Transaction, { tenantId, conversationId, ids }: ErasedMessages): Promise<string[]> {
    const unsent = await tx.query<{ id: string; isLeased: boolean; holds: boolean }>(
      `SELECT message_id AS id, lease_id IS NOT NULL AS "isLeased", holds FROM outbound_messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3) ORDER BY message_id FOR UPDATE`,
      [tenantId, conversationId, ids],
    );
    const pending = unsent.filter(({ isLeased, holds }) => !isLeased && !holds).map(({ id }) => id);
    if (pending.length > 0) {
      await tx.query(
        'DELETE FROM outbound_messages WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3)',
        [tenantId, conversationId, pending],
      );
    }
    return unsent.filter(({ isLeased }) => isLeased).map(({ id }) => id);
  }
}

/** Returns the part of the queue with a connection's messages that wait for no earlier message. */
export function messagesSubQueue(tenantId: string, connectionId: string): SubQueue {
  return { queue: 'messages', tenantId, key: connectionId };
}
