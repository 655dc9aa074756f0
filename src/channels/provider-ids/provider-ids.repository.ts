import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { DeliveryError, ReceiptStatus } from '../../common/message-status';
import { MessageKey, MessageStatusRepository } from '../../messages/message-status.repository';
import { MessageEntity } from '../../messages/message.entity';
import { ErasedIds } from '../../secrets/erased-ids';
import { ErasedMessages } from '../../database/tables/table-declaration';
import { Connection, ConnectionKey } from '../adapters/channel-adapter';
import { EARLY, EarlyChange, EarlyCustomer } from './early-changes.repository';

export const PROVIDER_MESSAGES_KEY = 'provider_messages_pkey';

export interface AppliedReceipt {
  providerId: string;
  status: ReceiptStatus;
  error: DeliveryError | null;
}

/** Writes providers' ids of messages. Stores receipts that arrive before their message's id is known. */
@Injectable()
export class ProviderIdsRepository {
  constructor(
    private readonly statuses: MessageStatusRepository,
    private readonly erasedIds: ErasedIds,
  ) {}

  /**
   * Locks provider ids until the transaction ends, because a response to a send request and its receipts can
   * arrive at the same time. Locks in a fixed order to avoid deadlocks.
   */
  async lock(tx: Transaction, connection: Connection, providerIds: string[]): Promise<void> {
    await tx.query(
      `SELECT pg_advisory_xact_lock(hash) FROM (
         SELECT hashtextextended($1 || id, 0) AS hash FROM unnest($2::text[]) id ORDER BY 1 OFFSET 0) ordered`,
      [connection.id, providerIds],
    );
  }

  /**
   * Returns whether an arriving message is known (one of its ids is stored, even if it was erased). Also
   * returns the customer's edits and unsends that arrived before the message, ordered by the edits' numbers.
   */
  async lookUp(
    tx: Transaction,
    { tenantId, id }: ConnectionKey,
    providerIds: string[],
    { contactId, ids }: EarlyCustomer,
  ): Promise<{ isKnown: boolean; early: EarlyChange[] }> {
    const rows = await tx.query<EarlyChange & { isKnown: boolean }>(
      `SELECT true AS "isKnown", NULL::uuid AS "connectionId", NULL AS "providerId", NULL AS "customerId",
              NULL AS body, NULL::jsonb AS metadata, NULL::float8 AS number
       FROM provider_messages WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = ANY ($3)
       UNION ALL
       SELECT false, ${EARLY}
       FROM early_changes WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = ANY ($4)
         AND (customer_id = ANY ($5) OR contact_id = $6)
       ORDER BY number`,
      [tenantId, id, this.erasedIds.addSubstitutes(id, providerIds), providerIds, ids, contactId],
    );
    return {
      isKnown: rows.some(({ isKnown }) => isKnown),
      early: rows.filter(({ isKnown }) => !isKnown),
    };
  }

  /** Returns the key of the message with a provider id, even if the message was erased. */
  async findMessage(
    tx: Transaction,
    { tenantId, id }: ConnectionKey,
    providerId: string,
  ): Promise<MessageKey | null> {
    const [row] = await tx.query<MessageKey>(
      `SELECT tenant_id AS "tenantId", conversation_id AS "conversationId", message_id AS "messageId"
       FROM provider_messages WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = ANY ($3)`,
      [tenantId, id, this.erasedIds.addSubstitutes(id, [providerId])],
    );
    return row ?? null;
  }

  async insertReceived(
    tx: Transaction,
    connectionId: string,
    providerIds: string[],
    { tenantId, conversationId, id, createdAt }: MessageEntity,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO provider_messages
         (tenant_id, connection_id, provider_id, conversation_id, message_id, created_at)
       SELECT w.id, $2, p.id, $4, $5, $6 FROM workspaces w, unnest($3::text[]) AS p (id) WHERE w.id = $1`,
      [tenantId, connectionId, providerIds, conversationId, id, createdAt],
    );
  }

  /**
   * Inserts a sent message's provider id, and applies receipts that arrived before the id was known. The
   * caller must hold the `lock` on the id.
   */
  async insertSent(
    tx: Transaction,
    connection: Connection,
    { tenantId, conversationId, messageId }: MessageKey,
    providerId: string,
    sentAt: Date,
  ): Promise<void> {
    const key = { tenantId, conversationId, messageId };
    for (const { status, error } of await this.storeSent(tx, connection, key, providerId, sentAt))
      await this.statuses.advance(tx, key, status, error);
  }

  /**
   * Inserts the provider id of a message or of a part of it. The caller must hold the `lock` on the id.
   * @returns the receipts that arrived before the id was known, which are deleted
   */
  async storeSent(
    tx: Transaction,
    connection: Connection,
    { tenantId, conversationId, messageId }: MessageKey,
    providerId: string,
    sentAt: Date,
  ): Promise<Pick<AppliedReceipt, 'status' | 'error'>[]> {
    await tx.query(
      `INSERT INTO provider_messages
         (tenant_id, connection_id, provider_id, conversation_id, message_id, sent_at, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, now()) ON CONFLICT DO NOTHING`,
      [tenantId, connection.id, providerId, conversationId, messageId, sentAt],
    );
    return tx.query(
      `DELETE FROM early_receipts WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = $3
       RETURNING status, error`,
      [tenantId, connection.id, providerId],
    );
  }

  /** Stores receipts with an unknown provider id, because the response with this id may arrive later. */
  async insertEarlyReceipts(
    tx: Transaction,
    { tenantId, id }: Connection,
    receipts: AppliedReceipt[],
  ): Promise<void> {
    await tx.query(
      `INSERT INTO early_receipts (tenant_id, connection_id, provider_id, status, error, created_at)
       SELECT w.id, $2, r.provider_id, r.status, r.error, now()
       FROM workspaces w, unnest($3::text[], $4::text[], $5::jsonb[]) AS r (provider_id, status, error)
       WHERE w.id = $1 AND NOT EXISTS (
         SELECT FROM provider_messages p
         WHERE p.tenant_id = $1 AND p.connection_id = $2 AND p.provider_id = r.provider_id)
       ON CONFLICT DO NOTHING`,
      [
        tenantId,
        id,
        receipts.map(({ providerId }) => providerId),
        receipts.map(({ status }) => status),
        receipts.map(({ error }) => error && JSON.stringify(error)),
      ],
    );
  }

  /** Replaces provider ids by digests. Deletes and inserts rows, because a digest may be stored already. */
  async erase(tx: Transaction, { tenantId, conversationId, ids }: ErasedMessages): Promise<void> {
    const rows = await tx.query<{ connectionId: string; providerId: string }>(
      `SELECT connection_id AS "connectionId", provider_id AS "providerId" FROM provider_messages
       WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3)`,
      [tenantId, conversationId, ids],
    );
    const known = rows.filter(({ providerId }) => !ErasedIds.isErased(providerId));
    if (known.length === 0) return;
    const columns = [
      tenantId,
      known.map(({ connectionId }) => connectionId),
      known.map(({ providerId }) => providerId),
    ];
    tx.pipeline(
      `INSERT INTO provider_messages
         (tenant_id, connection_id, provider_id, conversation_id, message_id, sent_at, created_at)
       SELECT p.tenant_id, p.connection_id, e.instead, p.conversation_id, p.message_id, p.sent_at, p.created_at
       FROM unnest($2::uuid[], $3::text[], $4::text[]) AS e (connection_id, id, instead)
       JOIN provider_messages p
         ON p.tenant_id = $1 AND p.connection_id = e.connection_id AND p.provider_id = e.id
       ON CONFLICT DO NOTHING`,
      [
        ...columns,
        known.map(({ connectionId, providerId }) => this.erasedIds.substitute(connectionId, providerId)),
      ],
    );
    tx.pipeline(
      `DELETE FROM provider_messages p USING unnest($2::uuid[], $3::text[]) AS e (connection_id, id)
       WHERE p.tenant_id = $1 AND p.connection_id = e.connection_id AND p.provider_id = e.id`,
      columns,
    );
  }
}
