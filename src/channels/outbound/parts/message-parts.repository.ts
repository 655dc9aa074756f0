import { Injectable } from '@nestjs/common';
import { ErasedMessages } from '../../../database/tables/table-declaration';
import { Transaction } from '../../../database/transaction';
import { DeliveryError, DeliveryStatus, statusesBefore } from '../../../common/message-status';
import { keyParameters, MessageKey } from '../../../messages/message-status.repository';
import { ConnectionKey } from '../../adapters/channel-adapter';
import { MessagePart } from './message-part';

type PartKey = MessageKey & Pick<MessagePart, 'position'>;

const COLUMNS = `tenant_id AS "tenantId", conversation_id AS "conversationId", message_id AS "messageId", position, id,
  content, attachment_id AS "attachmentId", file_id AS "fileId", status, attempt_count AS "attemptCount",
  provider_id AS "providerId", error, created_at AS "createdAt"`;
const OF_MESSAGE = 'tenant_id = $1 AND conversation_id = $2 AND message_id = $3';
const BY_KEY = `${OF_MESSAGE} AND position = $4`;

/**
 * Writes `message_parts`. A writer holds the lock of the message's row in `outbound_messages`, if there is
 * one.
 */
@Injectable()
export class MessagePartsRepository {
  /** Lists the parts of a message, in the order in which they are sent. */
  list(tx: Transaction, key: MessageKey): Promise<MessagePart[]> {
    return tx.query<MessagePart>(
      `SELECT ${COLUMNS} FROM message_parts WHERE ${OF_MESSAGE} ORDER BY position`,
      keyParameters(key),
    );
  }

  /** Reports whether a message of a conversation has this text. */
  async isBodyOf(
    tx: Transaction,
    { tenantId, conversationId }: MessageKey,
    messageId: string,
    body: string,
  ): Promise<boolean> {
    const rows = await tx.query(
      'SELECT FROM messages WHERE tenant_id = $1 AND conversation_id = $2 AND id = $3 AND body = $4',
      [tenantId, conversationId, messageId, body],
    );
    return rows.length > 0;
  }

  insertPipelined(tx: Transaction, part: MessagePart): void {
    const { position, id, content, attachmentId, fileId, status, error, createdAt } = part;
    tx.pipeline(
      `INSERT INTO message_parts (tenant_id, conversation_id, message_id, position, id, content, attachment_id, file_id,
                                  status, error, attempt_count, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, $11)`,
      [
        ...keyParameters(part),
        position,
        id,
        content,
        attachmentId,
        fileId,
        status,
        error && JSON.stringify(error),
        createdAt,
      ],
    );
  }

  /** Sets a QUEUED part to SENDING. Reports whether it did. */
  async begin(tx: Transaction, key: PartKey): Promise<boolean> {
    const rows = await tx.query(
      `UPDATE message_parts SET status = 'SENDING' WHERE ${BY_KEY} AND status = 'QUEUED' RETURNING 1`,
      [...keyParameters(key), key.position],
    );
    return rows.length > 0;
  }

  /** Sets a part to QUEUED again, because its request has certainly delivered nothing. */
  async requeue(tx: Transaction, key: PartKey): Promise<void> {
    await tx.query(
      `UPDATE message_parts SET status = 'QUEUED', attempt_count = attempt_count + 1
       WHERE ${BY_KEY} AND status IN ('QUEUED', 'SENDING')`,
      [...keyParameters(key), key.position],
    );
  }

  /** Advances a part to a status, unless it has passed it. */
  async advance(
    tx: Transaction,
    key: PartKey,
    status: DeliveryStatus,
    error: DeliveryError | null = null,
    from: DeliveryStatus[] = statusesBefore(status),
  ): Promise<void> {
    await tx.query(`UPDATE message_parts SET status = $5, error = $6 WHERE ${BY_KEY} AND status = ANY ($7)`, [
      ...keyParameters(key),
      key.position,
      status,
      error && JSON.stringify(error),
      from,
    ]);
  }

  async setProviderId(
    tx: Transaction,
    key: PartKey,
    connectionId: string,
    providerId: string,
  ): Promise<void> {
    await tx.query(`UPDATE message_parts SET connection_id = $5, provider_id = $6 WHERE ${BY_KEY}`, [
      ...keyParameters(key),
      key.position,
      connectionId,
      providerId,
    ]);
  }

  /** Sets all parts of a message that have a status to another one, with its reason. */
  async replaceStatus(
    tx: Transaction,
    key: MessageKey,
    { from, to, error }: { from: DeliveryStatus; to: DeliveryStatus; error: DeliveryError },
  ): Promise<void> {
    await tx.query(`UPDATE message_parts SET status = $5, error = $6 WHERE ${OF_MESSAGE} AND status = $4`, [
      ...keyParameters(key),
      from,
      to,
      JSON.stringify(error),
    ]);
  }

  async findByProviderId(
    tx: Transaction,
    { tenantId, id }: ConnectionKey,
    providerId: string,
  ): Promise<MessagePart | null> {
    const [part] = await tx.query<MessagePart>(
      `SELECT ${COLUMNS} FROM message_parts
       WHERE tenant_id = $1 AND connection_id = $2 AND provider_id = $3 LIMIT 1`,
      [tenantId, id, providerId],
    );
    return part ?? null;
  }

  /** Finds a part by the service's own id, if it is being sent or its outcome is unknown. */
  async findUnsettled(tx: Transaction, tenantId: string, id: string): Promise<MessagePart | null> {
    const [part] = await tx.query<MessagePart>(
      `SELECT ${COLUMNS} FROM message_parts WHERE tenant_id = $1 AND id = $2 AND status IN ('SENDING', 'UNKNOWN')`,
      [tenantId, id],
    );
    return part ?? null;
  }

  /**
   * Deletes the parts of erased messages.
   * @returns the ids of their files
   */
  async erase(tx: Transaction, { tenantId, conversationId, ids }: ErasedMessages): Promise<string[]> {
    const rows = await tx.query<{ fileId: string | null }>(
      `DELETE FROM message_parts WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3)
       RETURNING file_id AS "fileId"`,
      [tenantId, conversationId, ids],
    );
    return rows.flatMap(({ fileId }) => fileId ?? []);
  }
}
