import { Injectable } from '@nestjs/common';
import { ConversationsRepository } from '../conversations/conversations.repository';
import { Transaction } from '../database/transaction';
import { DELIVERY_ERROR_CODES } from '../messages/message-status';
import { erasedData } from '../outbox/event-catalog';
import { ErasedIds } from '../secrets/erased-ids';

/** Messages of one conversation. Both ends exclusive. */
export interface MessageRange {
  tenantId: string;
  conversationId: string;
  after: string;
  before: string;
}

/** A step through a range. */
export interface ErasedStep {
  /** Messages that were not erased before. */
  erased: number;
  /** After which message the next step begins; null after the last. */
  next: string | null;
}

/** Deliveries of one statement. */
const MAX_DELIVERIES = 1_000;
const HEX_OF_MILLISECOND = 13;

/**
 * Erases messages and every copy of them, and keeps ids, times and directions. An erased message has an empty body, which
 * no other one has. So has its event: what is delivered of it later, by a retry, a redelivery or a recovery, has an empty
 * body too. A message that waits to be sent is not sent any more.
 *
 * The history is written once but for this. It knows a message by its event, which has the message's id.
 */
@Injectable()
export class MessageEraser {
  constructor(
    private readonly conversations: ConversationsRepository,
    private readonly erasedIds: ErasedIds,
  ) {}

  /** Erases up to `count` messages of a range, the oldest first. Erasing again changes nothing. */
  async step(tx: Transaction, range: MessageRange, count: number): Promise<ErasedStep> {
    const { tenantId, conversationId } = range;
    const ids = await this.findIds(tx, range, count);
    if (ids.length === 0) return { erased: 0, next: null };
    await this.eraseAnswers(tx, tenantId, ids);
    await this.conversations.lock(tx, tenantId, conversationId);
    const beingSent = await this.cancelUnsent(tx, range, ids);
    const erased = await this.eraseBodies(tx, range, ids, beingSent);
    await this.eraseEvents(tx, tenantId, ids);
    await this.eraseProviderIds(tx, range, ids);
    await this.erasePreview(tx, range, ids);
    return { erased, next: ids.length < count ? null : ids.at(-1)! };
  }

  private async findIds(tx: Transaction, range: MessageRange, count: number): Promise<string[]> {
    const { tenantId, conversationId, after, before } = range;
    const rows = await tx.query<{ id: string }>(
      `SELECT id FROM messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND id > $3 AND id < $4 ORDER BY id LIMIT $5`,
      [tenantId, conversationId, after, before, count],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * A receiver may have sent back what it was sent. The bounds of the ids say nothing new; they keep PostgreSQL from reading
   * all of a day that it has no statistics of yet.
   */
  private async eraseAnswers(tx: Transaction, tenantId: string, eventIds: string[]): Promise<void> {
    const deliveryIds = await this.deliveriesOf(tx, tenantId, eventIds);
    for (let n = 0; n < deliveryIds.length; n += MAX_DELIVERIES) {
      const ids = deliveryIds.slice(n, n + MAX_DELIVERIES).sort();
      for (const [table, key] of [
        ['webhook_deliveries', 'id'],
        ['webhook_attempts', 'delivery_id'],
      ]) {
        await tx.query(
          `UPDATE ${table} SET response = NULL, response_headers = NULL, error_message = NULL
           WHERE tenant_id = $1 AND ${key} >= $3 AND ${key} <= $4 AND ${key} = ANY ($2)
             AND (response IS NOT NULL OR response_headers IS NOT NULL OR error_message IS NOT NULL)`,
          [tenantId, ids, ids[0], ids.at(-1)],
        );
      }
    }
  }

  /**
   * A delivery's id begins with the millisecond of its event's, so ranges of the primary key find those of all endpoints
   * that there ever were.
   */
  private async deliveriesOf(tx: Transaction, tenantId: string, eventIds: string[]): Promise<string[]> {
    const milliseconds = [...new Set(eventIds.map((id) => id.slice(0, HEX_OF_MILLISECOND)))];
    const ofEvents = (table: string) =>
      `SELECT id FROM ${table} WHERE tenant_id = $1 AND id >= m.first AND id <= m.last AND event_id = ANY ($4)`;
    const rows = await tx.query<{ id: string }>(
      `SELECT d.id FROM unnest($2::uuid[], $3::uuid[]) AS m (first, last),
         LATERAL (${ofEvents('webhook_deliveries')} UNION ${ofEvents('pending_deliveries')}) AS d`,
      [
        tenantId,
        milliseconds.map((ms) => `${ms}-0000-0000-000000000000`),
        milliseconds.map((ms) => `${ms}-ffff-ffff-ffffffffffff`),
        eventIds,
      ],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Takes messages out of the queue of outbound messages, but none with an attempt in flight.
   * @returns the ids of those
   */
  private async cancelUnsent(tx: Transaction, range: MessageRange, ids: string[]): Promise<string[]> {
    const { tenantId, conversationId } = range;
    const unsent = await tx.query<{ id: string; isLeased: boolean; holds: boolean }>(
      `SELECT message_id AS id, lease_id IS NOT NULL AS "isLeased", holds FROM outbound_messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3) ORDER BY message_id FOR UPDATE`,
      [tenantId, conversationId, ids],
    );
    const pending = unsent.filter(({ isLeased, holds }) => !isLeased && !holds).map(({ id }) => id);
    if (pending.length > 0) {
      // The poll of outbound messages finds a conversation whose first one is gone.
      await tx.query(
        'DELETE FROM outbound_messages WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3)',
        [tenantId, conversationId, pending],
      );
    }
    return unsent.filter(({ isLeased }) => isLeased).map(({ id }) => id);
  }

  /**
   * Locked first, in the order in which others lock them: with both in one statement, PostgreSQL reads the whole
   * conversation for each message (500 ms a step instead of 15).
   * @returns how many had a body
   */
  private async eraseBodies(
    tx: Transaction,
    { tenantId, conversationId }: MessageRange,
    ids: string[],
    beingSent: string[],
  ): Promise<number> {
    const isUnsent = `(delivery_status IN ('QUEUED', 'SENDING') AND id <> ALL ($4::uuid[]))`;
    const due = await tx.query<{ id: string; hasBody: boolean }>(
      `SELECT id, body <> '' AS "hasBody" FROM messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND id = ANY ($3)
         AND (body <> '' OR metadata IS NOT NULL OR delivery_error IS NOT NULL OR ${isUnsent})
       ORDER BY id FOR NO KEY UPDATE`,
      [tenantId, conversationId, ids, beingSent],
    );
    if (due.length === 0) return 0;
    const code = `CASE WHEN ${isUnsent} THEN 'ERASED' ELSE delivery_error->>'code' END`;
    await tx.query(
      `UPDATE messages SET body = '', metadata = NULL,
         delivery_status = CASE WHEN ${isUnsent} THEN 'FAILED' ELSE delivery_status END,
         delivery_error = CASE WHEN ${code} IS NOT NULL THEN jsonb_build_object(
           'code', ${code}, 'providerCode', NULL, 'message', coalesce($5::jsonb->>(${code}), '')) END
       WHERE tenant_id = $1 AND conversation_id = $2 AND id = ANY ($3)`,
      [tenantId, conversationId, due.map(({ id }) => id), beingSent, JSON.stringify(DELIVERY_ERROR_CODES)],
    );
    return due.filter(({ hasBody }) => hasBody).length;
  }

  /** Erases the events with the ids of messages, and the errors of parked ones, which may quote them. */
  private async eraseEvents(tx: Transaction, tenantId: string, ids: string[]): Promise<void> {
    const events = await tx.query<{ id: string; type: string; data: string }>(
      'SELECT id, type, data::text FROM events WHERE tenant_id = $1 AND id = ANY ($2)',
      [tenantId, ids],
    );
    const erased = events
      .map(({ id, type, data }) => ({
        id,
        data,
        left: JSON.stringify(erasedData(type, JSON.parse(data) as object)),
      }))
      .filter(({ data, left }) => left !== data);
    if (erased.length > 0) {
      await tx.query(
        `UPDATE events SET data = ($3::text[])[array_position($2::uuid[], id)]::json
         WHERE tenant_id = $1 AND id = ANY ($2)`,
        [tenantId, erased.map(({ id }) => id), erased.map(({ left }) => left)],
      );
    }
    await tx.query(`UPDATE parked_events SET error = 'erased' WHERE tenant_id = $1 AND event_id = ANY ($2)`, [
      tenantId,
      ids,
    ]);
  }

  /** Deleted and inserted: a receipt may have come under the id and under what stands for it. */
  private async eraseProviderIds(
    tx: Transaction,
    { tenantId, conversationId }: MessageRange,
    ids: string[],
  ): Promise<void> {
    const rows = await tx.query<{ connectionId: string; providerId: string }>(
      `SELECT connection_id AS "connectionId", provider_id AS "providerId" FROM provider_messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3)`,
      [tenantId, conversationId, ids],
    );
    const known = rows.filter(({ providerId }) => !ErasedIds.isErased(providerId));
    if (known.length === 0) return;
    await tx.query(
      `WITH erased AS (
         DELETE FROM provider_messages p USING unnest($2::uuid[], $3::text[], $4::text[]) AS e (connection_id, id, instead)
         WHERE p.tenant_id = $1 AND p.connection_id = e.connection_id AND p.provider_id = e.id
         RETURNING p.*, e.instead
       )
       INSERT INTO provider_messages
         (tenant_id, connection_id, provider_id, conversation_id, message_id, sent_at, created_at)
       SELECT tenant_id, connection_id, instead, conversation_id, message_id, sent_at, created_at FROM erased
       ON CONFLICT DO NOTHING`,
      [
        tenantId,
        known.map(({ connectionId }) => connectionId),
        known.map(({ providerId }) => providerId),
        known.map(({ connectionId, providerId }) => this.erasedIds.of(connectionId, providerId)),
      ],
    );
  }

  private async erasePreview(
    tx: Transaction,
    { tenantId, conversationId }: MessageRange,
    ids: string[],
  ): Promise<void> {
    await tx.query(
      `UPDATE conversations SET last_message_preview = ''
       WHERE tenant_id = $1 AND id = $2 AND last_message_id = ANY ($3) AND last_message_preview <> ''`,
      [tenantId, conversationId, ids],
    );
  }
}
