import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { DeliveryError, DeliveryStatus, ReceiptStatus, statusesBefore } from '../../messages/message-status';
import { Connection } from '../adapters/channel-adapter';
import { MessageKey } from './claimed-message';

/** How far messages have come, and what their provider calls them. */
@Injectable()
export class MessageProgress {
  /**
   * Lets whoever deals with one of a provider's messages take turns: the answer to a request and the receipts that
   * tell of it can come at the same moment, in any order.
   */
  async takeTurn(tx: Transaction, connection: Connection, providerId: string): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [connection.id + providerId]);
  }

  /** @returns what the message's status was before, or null when it is that far already */
  async advance(
    tx: Transaction,
    { tenantId, conversationId, messageId }: MessageKey,
    status: DeliveryStatus,
    error: DeliveryError | null = null,
  ): Promise<DeliveryStatus | null> {
    const [row] = await tx.query<{ before: DeliveryStatus }>(
      `WITH old AS (
         SELECT tenant_id, conversation_id, id, delivery_status FROM messages
         WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3 AND delivery_status = ANY ($6)
         FOR NO KEY UPDATE
       )
       UPDATE messages m SET delivery_status = $4, delivery_error = $5 FROM old
       WHERE m.tenant_id = old.tenant_id AND m.conversation_id = old.conversation_id AND m.id = old.id
       RETURNING old.delivery_status AS before`,
      [tenantId, conversationId, messageId, status, error && JSON.stringify(error), statusesBefore(status)],
    );
    return row?.before ?? null;
  }

  /** Says of a message that is still on its way why it takes so long; with the next advance that is gone. */
  async explain(
    tx: Transaction,
    { tenantId, conversationId, messageId }: MessageKey,
    error: DeliveryError,
  ): Promise<void> {
    await tx.query(
      `UPDATE messages SET delivery_error = $4
       WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3 AND delivery_status = 'SENDING'`,
      [tenantId, conversationId, messageId, JSON.stringify(error)],
    );
  }

  /** Whose message it is that the provider calls so. */
  async find(tx: Transaction, connection: Connection, providerId: string): Promise<MessageKey | null> {
    const [row] = await tx.query<MessageKey>(
      `SELECT tenant_id AS "tenantId", conversation_id AS "conversationId", message_id AS "messageId"
       FROM provider_messages WHERE connection_id = $1 AND provider_id = $2`,
      [connection.id, providerId],
    );
    return row ?? null;
  }

  /**
   * Keeps what the provider calls a message of ours, and makes up for what it told of it before that was known. The
   * caller has its turn.
   */
  async remember(
    tx: Transaction,
    connection: Connection,
    { tenantId, conversationId, messageId }: MessageKey,
    providerId: string,
    sentAt: Date,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO provider_messages
         (connection_id, provider_id, tenant_id, conversation_id, message_id, sent_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT DO NOTHING`,
      [connection.id, providerId, tenantId, conversationId, messageId, sentAt],
    );
    const early = await tx.query<{ status: ReceiptStatus; error: DeliveryError | null }>(
      'DELETE FROM early_receipts WHERE connection_id = $1 AND provider_id = $2 RETURNING status, error',
      [connection.id, providerId],
    );
    for (const { status, error } of early) {
      await this.advance(tx, { tenantId, conversationId, messageId }, status, error);
    }
  }

  /** Keeps what is told of a message that nobody knows yet: the answer to its own request may be still on its way. */
  async keepEarly(
    tx: Transaction,
    connection: Connection,
    providerId: string,
    status: ReceiptStatus,
    error: DeliveryError | null,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO early_receipts (tenant_id, connection_id, provider_id, status, error, created_at)
       VALUES ($1, $2, $3, $4, $5, now()) ON CONFLICT DO NOTHING`,
      [connection.tenantId, connection.id, providerId, status, error && JSON.stringify(error)],
    );
  }
}
