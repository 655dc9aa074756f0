import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import {
  DeliveryError,
  DeliveryStatus,
  ReceiptStatus,
  statusesBefore,
  withoutDetails,
} from '../../messages/message-status';
import { ErasedIds } from '../../secrets/erased-ids';
import { Connection } from '../adapters/channel-adapter';
import { MessageKey } from './claimed-message';

/** The delivery status of outbound messages, their provider ids, and receipts that come before these ids. */
@Injectable()
export class MessageProgress {
  constructor(private readonly erasedIds: ErasedIds) {}

  /** Serializes the provider's answer to a request and the receipts for it: they can come at the same time. */
  async lockProviderId(tx: Transaction, connection: Connection, providerId: string): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [connection.id + providerId]);
  }

  /** The same for many, in one order for all callers. */
  async lockProviderIds(tx: Transaction, connection: Connection, providerIds: string[]): Promise<void> {
    await tx.query(
      `SELECT pg_advisory_xact_lock(hash) FROM (
         SELECT hashtextextended($1 || id, 0) AS hash FROM unnest($2::text[]) id ORDER BY 1 OFFSET 0) ordered`,
      [connection.id, providerIds],
    );
  }

  /** @returns the previous status, or null when the message can't advance to this one */
  async advance(
    tx: Transaction,
    { tenantId, conversationId, messageId }: MessageKey,
    status: DeliveryStatus,
    error: DeliveryError | null = null,
  ): Promise<DeliveryStatus | null> {
    const [row] = await tx.prepared<{ before: DeliveryStatus }>(
      `WITH old AS (
         SELECT delivery_status FROM messages
         WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3 AND delivery_status = ANY ($6)
         FOR NO KEY UPDATE
       )
       UPDATE messages m SET delivery_status = $4, delivery_error = CASE WHEN m.body = '' THEN $7::jsonb ELSE $5::jsonb END
       FROM old
       WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id = $3
       RETURNING old.delivery_status AS before`,
      [
        tenantId,
        conversationId,
        messageId,
        status,
        error && JSON.stringify(error),
        statusesBefore(status),
        error && JSON.stringify(withoutDetails(error)),
      ],
    );
    return row?.before ?? null;
  }

  /** Records why a SENDING message is retried. `advance` overwrites it. */
  async recordError(
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

  /** @returns false when the message is routed, or not QUEUED */
  async failUnrouted(
    tx: Transaction,
    { tenantId, conversationId, messageId }: MessageKey,
    error: DeliveryError,
  ): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE messages m SET delivery_status = 'FAILED', delivery_error = $4
       WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id = $3 AND m.delivery_status = 'QUEUED'
         AND NOT EXISTS (
           SELECT FROM outbound_messages d WHERE d.tenant_id = $1 AND d.conversation_id = $2 AND d.message_id = $3)
       RETURNING 1`,
      [tenantId, conversationId, messageId, JSON.stringify(error)],
    );
    return rows.length > 0;
  }

  async findByProviderId(
    tx: Transaction,
    { tenantId, id }: Connection,
    providerId: string,
  ): Promise<MessageKey | null> {
    const [row] = await tx.query<MessageKey>(
      `SELECT tenant_id AS "tenantId", conversation_id AS "conversationId", message_id AS "messageId"
       FROM provider_messages WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = ANY ($3)`,
      [tenantId, id, this.erasedIds.with(id, [providerId])],
    );
    return row ?? null;
  }

  /** Also applies the receipts that came before. The caller holds the lock of `lockProviderId`. */
  async recordProviderId(
    tx: Transaction,
    connection: Connection,
    { tenantId, conversationId, messageId }: MessageKey,
    providerId: string,
    sentAt: Date,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO provider_messages
         (tenant_id, connection_id, provider_id, conversation_id, message_id, sent_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT DO NOTHING`,
      [tenantId, connection.id, providerId, conversationId, messageId, sentAt],
    );
    const early = await tx.query<{ status: ReceiptStatus; error: DeliveryError | null }>(
      `DELETE FROM early_receipts WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = $3
       RETURNING status, error`,
      [tenantId, connection.id, providerId],
    );
    for (const { status, error } of early) {
      await this.advance(tx, { tenantId, conversationId, messageId }, status, error);
    }
  }

  /** For an unknown provider id: the answer to the request may still be on its way. */
  async recordEarlyReceipt(
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
