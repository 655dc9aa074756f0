import { Injectable } from '@nestjs/common';
import { escapeLiteral } from 'pg';
import { groupByWorkspace } from '../common/group-by';
import { Channel } from '../common/channel-descriptors';
import { Database } from '../database/database';
import { Batch, workspaceOf, writtenOnce } from '../database/key-list';
import { Transaction } from '../database/transaction';
import { EventlessChanges } from '../outbox/eventless-changes';
import {
  DeliveryError,
  DeliveryErrorCode,
  DeliveryStatus,
  ERRORS_BY_CODE,
  statusesBefore,
  withoutDetails,
} from '../common/message-status';
import type { MessageEntity } from './message.entity';
import { ChangedStatus, hasStatusSubscriberSql, StatusEvents } from './status-events';

export interface MessageKey {
  tenantId: string;
  conversationId: string;
  messageId: string;
}

/** Returns a message's key as the parameters $1 to $3 of a statement: workspace, conversation and message. */
export function keyParameters({ tenantId, conversationId, messageId }: MessageKey): string[] {
  return [tenantId, conversationId, messageId];
}

export type FailingMessage = MessageKey & { code: DeliveryErrorCode };

export interface FailedMessage {
  channel: Channel;
  errorCode: DeliveryErrorCode;
}

type Advanced = ChangedStatus & { before: DeliveryStatus };

export type SendingMessage = Pick<
  MessageEntity,
  'body' | 'createdAt' | 'attachmentCount' | 'isDescribed' | 'repeatsId'
>;

/**
 * SQL of a message's status, for a statement that finds the row `m` by its key. Without `coalesce`,
 * PostgreSQL might choose a partial index on the status, and read all of it. It does so if stale statistics
 * say that this index is empty.
 */
export const STATUS_BY_KEY = `coalesce(m.delivery_status, '')`;

const ADVANCE_STEP = 500;

/**
 * Returns SQL that sets messages that are QUEUED to FAILED, and to which more results can be added.
 * @param list SQL of the messages' list `f` (`tenant_id`, `conversation_id`, `id`, `code`)
 * @param errors SQL of the JSON object ERRORS_BY_CODE
 */
const failListed = (list: string, errors: string, batch: Batch) => `
  UPDATE messages m SET delivery_status = 'FAILED', delivery_error = ${errors}->f.code
  FROM ${list} AS f (tenant_id, conversation_id, id, code)
  JOIN conversations c ON c.tenant_id = ${workspaceOf('f', '$1', batch)} AND c.id = f.conversation_id
  WHERE m.tenant_id = ${workspaceOf('f', '$1', batch)} AND m.conversation_id = f.conversation_id AND m.id = f.id
    AND ${STATUS_BY_KEY} = 'QUEUED'
  RETURNING c.source_channel`;
const failIn = writtenOnce(
  (batch) => `
  ${failListed('unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[])', '$5::jsonb', batch)} AS channel,
    f.code AS "errorCode", f.tenant_id AS "tenantId", f.conversation_id AS "conversationId", f.id AS "messageId",
    'QUEUED' AS before, ${hasStatusSubscriberSql(workspaceOf('f', '$1', batch))} AS "hasSubscriber"`,
);

/**
 * Returns SQL for `ClaimHandler.handleSql`: it fails the messages of some claimed events, if no endpoint of
 * their workspace subscribes to status events. Each result is the channel of the conversation.
 * @param condition SQL condition for the event `e`
 */
export const failClaimedSql = (code: DeliveryErrorCode, condition: string, batch: Batch) => {
  const selection = `SELECT e.tenant_id, (e.data->>'conversationId')::uuid, e.id, '${code}'::text FROM claimed e
    WHERE ${condition} AND NOT ${hasStatusSubscriberSql(workspaceOf('e', '$1', batch))}`;
  return `${failListed(`(${selection})`, `${escapeLiteral(ERRORS_BY_CODE)}::jsonb`, batch)} AS result, f.id AS event_id`;
};

const HAS_SUBSCRIBER = `${hasStatusSubscriberSql('$1')} AS "hasSubscriber"`;
const BY_KEY = 'm.tenant_id = $1 AND m.conversation_id = $2 AND m.id = $3';

@Injectable()
export class MessageStatusRepository {
  constructor(
    private readonly database: Database,
    private readonly changes: EventlessChanges,
    private readonly events: StatusEvents,
  ) {}

  /** Sets a message to SENDING, and returns its content; null if there is no such message. */
  async startSending(tx: Transaction, key: MessageKey): Promise<SendingMessage | null> {
    const [row] = await tx.prepared<SendingMessage>(
      `UPDATE messages m SET delivery_status = 'SENDING' WHERE ${BY_KEY}
       RETURNING m.body, m.created_at AS "createdAt", m.attachment_count AS "attachmentCount",
         m.is_described AS "isDescribed", m.repeats_id AS "repeatsId"`,
      keyParameters(key),
    );
    return row ?? null;
  }

  /**
   * Advances a message to a status. Appends an event about the change if a webhook endpoint subscribes to it.
   * @param from statuses from which the message may advance; by default all that come before `status`
   * @returns the previous status; null if the message was not in one of `from`
   */
  async advance(
    tx: Transaction,
    key: MessageKey,
    status: DeliveryStatus,
    error: DeliveryError | null = null,
    from: DeliveryStatus[] = statusesBefore(status),
  ): Promise<DeliveryStatus | null> {
    const [row] = await tx.prepared<Pick<Advanced, 'before' | 'hasSubscriber'>>(
      `WITH old AS (
         SELECT m.delivery_status FROM messages m WHERE ${BY_KEY} AND m.delivery_status = ANY ($6) FOR NO KEY UPDATE
       )
       UPDATE messages m SET delivery_status = $4, delivery_error = CASE WHEN m.body = '' THEN $7::jsonb ELSE $5::jsonb END
       FROM old WHERE ${BY_KEY} RETURNING old.delivery_status AS before, ${HAS_SUBSCRIBER}`,
      [
        ...keyParameters(key),
        status,
        error && JSON.stringify(error),
        from,
        error && JSON.stringify(withoutDetails(error)),
      ],
    );
    if (!row) return null;
    const { tenantId, conversationId, messageId } = key;
    const changed = { conversationId, messageId, errorCode: error?.code ?? null, ...row };
    this.tellPipelined(tx, tenantId, status, [changed]);
    return row.before;
  }

  /**
   * Advances the messages of a workspace that a query selects. The query is part of the UPDATE statement, so
   * that no separate statement must read the messages' keys first.
   * @param selection SQL that locks the messages and returns `conversation_id`, `id`, `delivery_status` and
   *   `error` (jsonb) of each. In it $1 is the workspace and $2 the new status; the values of `parameters`
   *   begin with $3
   * @returns how many messages have advanced
   */
  async advanceSelected(
    tx: Transaction,
    tenantId: string,
    status: DeliveryStatus,
    selection: string,
    parameters: unknown[],
  ): Promise<number> {
    const rows = await tx.query<Advanced>(
      `WITH passed AS (${selection})
       UPDATE messages m SET delivery_status = $2, delivery_error = passed.error FROM passed
       WHERE m.tenant_id = $1 AND m.conversation_id = passed.conversation_id AND m.id = passed.id
       RETURNING m.conversation_id AS "conversationId", m.id AS "messageId", passed.error->>'code' AS "errorCode",
         passed.delivery_status AS before, ${HAS_SUBSCRIBER}`,
      [tenantId, status, ...parameters],
    );
    this.tellPipelined(tx, tenantId, status, rows);
    return rows.length;
  }

  /**
   * Advances the messages of a conversation that are being sent or were sent, up to and including a message.
   * One call advances at most 500, the oldest ones with ids above `after`.
   * @returns how many have advanced, and the value of `after` for the next call; null if none is left
   */
  async advanceUpTo(
    tx: Transaction,
    { tenantId, conversationId, messageId }: MessageKey,
    status: DeliveryStatus,
    after: string,
  ): Promise<{ advanced: number; next: string | null }> {
    const before = statusesBefore(status).filter((earlier) => earlier !== 'QUEUED');
    const rows = await tx.query<Pick<Advanced, 'messageId' | 'before' | 'hasSubscriber'>>(
      `WITH due AS (
         SELECT id, delivery_status FROM messages
         WHERE tenant_id = $1 AND conversation_id = $2 AND id > $6 AND id <= $3 AND delivery_status = ANY ($4)
         ORDER BY id LIMIT ${ADVANCE_STEP} FOR NO KEY UPDATE
       )
       UPDATE messages m SET delivery_status = $5, delivery_error = NULL
       FROM due WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id = due.id
       RETURNING m.id AS "messageId", due.delivery_status AS before, ${HAS_SUBSCRIBER}`,
      [tenantId, conversationId, messageId, before, status, after],
    );
    const changed = rows.map((row) => ({ ...row, conversationId, errorCode: null }));
    this.tellPipelined(tx, tenantId, status, changed);
    const last = rows
      .map((row) => row.messageId)
      .sort()
      .at(-1);
    return { advanced: rows.length, next: rows.length < ADVANCE_STEP ? null : last! };
  }

  /** Records why a SENDING message will be retried. The next `advance` overwrites the reason. */
  async recordError(tx: Transaction, key: MessageKey, error: DeliveryError): Promise<void> {
    await tx.query(
      `UPDATE messages m SET delivery_error = $4 WHERE ${BY_KEY} AND m.delivery_status = 'SENDING'`,
      [...keyParameters(key), JSON.stringify(error)],
    );
    this.changes.note(tx, key.tenantId, { conversationId: key.conversationId, isProgress: true });
  }

  /**
   * Sets messages that are QUEUED to FAILED, and appends events. Does not change other messages.
   * @returns the failed messages
   */
  async failAll(tx: Transaction, messages: FailingMessage[]): Promise<FailedMessage[]> {
    const failed = await tx.prepared<FailedMessage & Advanced & { tenantId: string }>(
      failIn(this.database),
      failingColumns(messages),
    );
    for (const [tenantId, changed] of groupByWorkspace(failed))
      this.tellPipelined(tx, tenantId, 'FAILED', changed);
    return failed;
  }

  /** Reports to open inboxes a message that the SQL of `failClaimedSql` has failed. */
  noteFailed(tenantId: string, conversationId: string): void {
    this.changes.noteCommitted(tenantId, { conversationId });
  }

  private tellPipelined(
    tx: Transaction,
    tenantId: string,
    status: DeliveryStatus,
    changed: Advanced[],
  ): void {
    for (const { conversationId, before } of changed)
      this.changes.note(tx, tenantId, { conversationId, isProgress: !isLost(before) && !isLost(status) });
    this.events.appendPipelined(tx, tenantId, status, changed);
  }
}

function isLost(status: DeliveryStatus): boolean {
  return status === 'FAILED' || status === 'UNKNOWN';
}

function failingColumns(messages: FailingMessage[]): unknown[] {
  return [
    messages.map(({ tenantId }) => tenantId),
    messages.map(({ conversationId }) => conversationId),
    messages.map(({ messageId }) => messageId),
    messages.map(({ code }) => code),
    ERRORS_BY_CODE,
  ];
}
