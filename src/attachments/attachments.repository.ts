import { Injectable } from '@nestjs/common';
import { groupBy } from '../common/group-by';
import { Database } from '../database/database';
import { ConversationKey, ErasedMessages } from '../database/tables/table-declaration';
import { Pipelined, Transaction } from '../database/transaction';
import { AttachmentEntity, AttachmentProblem } from './attachment.entity';
import { FileFacts } from './files/file.entity';

export interface AttachmentKey {
  tenantId: string;
  attachmentId: string;
}

/** Columns of `attachments` a that a writer chooses. */
export type NewAttachment = Omit<
  AttachmentEntity,
  'sha256' | 'width' | 'height' | 'durationMs' | 'scan' | 'rendition' | 'delivery'
>;

const SELECT = `SELECT a.tenant_id AS "tenantId", a.id, a.conversation_id AS "conversationId",
    a.message_id AS "messageId", a.position, a.file_id AS "fileId", a.kind, a.name, a.content_type AS "contentType",
    a.size::float8 AS size, a.state, a.problem, a.caption, a.created_at AS "createdAt", f.sha256, f.width, f.height,
    f.duration_ms AS "durationMs", f.scan, f.rendition,
    CASE WHEN p.status IS NOT NULL THEN jsonb_build_object('status', p.status, 'error', p.error) END AS delivery
  FROM attachments a LEFT JOIN files f ON f.tenant_id = $1 AND f.id = a.file_id
    LEFT JOIN message_parts p ON p.tenant_id = $1 AND p.conversation_id = a.conversation_id
      AND p.message_id = a.message_id AND p.attachment_id = a.id AND p.file_id IS NOT NULL`;

/** Writes `attachments`. A row is deleted when the text of its message is erased. */
@Injectable()
export class AttachmentsRepository {
  constructor(private readonly database: Database) {}

  insertPipelined(tx: Transaction, attachment: NewAttachment): Pipelined {
    const { tenantId, id, conversationId, messageId, position, fileId } = attachment;
    const { kind, name, contentType, size, state, problem, caption, createdAt } = attachment;
    return tx.pipeline(
      `INSERT INTO attachments (tenant_id, id, conversation_id, message_id, position, file_id, kind, name,
                                content_type, size, state, problem, caption, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
      [
        tenantId,
        id,
        conversationId,
        messageId,
        position,
        fileId,
        kind,
        name,
        contentType,
        size,
        state,
        problem,
        caption,
        createdAt,
      ],
    );
  }

  async find({ tenantId, attachmentId }: AttachmentKey, tx?: Transaction): Promise<AttachmentEntity | null> {
    const [row] = await (tx ?? this.database).query<AttachmentEntity>(
      `${SELECT} WHERE a.tenant_id = $1 AND a.id = $2`,
      [tenantId, attachmentId],
    );
    return row ?? null;
  }

  /** Locks an attachment, and returns it without the facts of its file. */
  async lock(tx: Transaction, { tenantId, attachmentId }: AttachmentKey): Promise<NewAttachment | null> {
    const [row] = await tx.query<NewAttachment>(
      `SELECT tenant_id AS "tenantId", id, conversation_id AS "conversationId", message_id AS "messageId", position,
              file_id AS "fileId", kind, name, content_type AS "contentType", size::float8 AS size, state, problem,
              caption, created_at AS "createdAt"
       FROM attachments WHERE tenant_id = $1 AND id = $2 FOR UPDATE`,
      [tenantId, attachmentId],
    );
    return row ?? null;
  }

  /** Locks the first attachment of a message. Returns null if the message has none. */
  async lockFirstOf(
    tx: Transaction,
    { tenantId, conversationId, messageId }: ConversationKey & { messageId: string },
  ): Promise<(AttachmentKey & { name: string | null }) | null> {
    const [row] = await tx.query<AttachmentKey & { name: string | null }>(
      `SELECT tenant_id AS "tenantId", id AS "attachmentId", name FROM attachments
       WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = $3 AND position = 0 FOR UPDATE`,
      [tenantId, conversationId, messageId],
    );
    return row ?? null;
  }

  /** Lists the attachments of messages, in the order in which they were sent, by message. */
  async listOfMessages(
    { tenantId, conversationId }: ConversationKey,
    messageIds: string[],
    tx?: Transaction,
  ): Promise<Map<string, AttachmentEntity[]>> {
    if (messageIds.length === 0) return new Map();
    const rows = await (tx ?? this.database).query<AttachmentEntity>(
      `${SELECT} WHERE a.tenant_id = $1 AND a.conversation_id = $2 AND a.message_id = ANY ($3)
       ORDER BY a.message_id, a.position`,
      [tenantId, conversationId, messageIds],
    );
    return groupBy(rows, ({ messageId }) => messageId);
  }

  /** Lists the attachments of messages of several conversations, by message. */
  async listOfConversations(
    tenantId: string,
    conversationIds: string[],
    messageIds: string[],
  ): Promise<Map<string, AttachmentEntity[]>> {
    if (messageIds.length === 0) return new Map();
    const rows = await this.database.pipelinedRead<AttachmentEntity>(
      `${SELECT} WHERE a.tenant_id = $1 AND a.conversation_id = ANY ($2) AND a.message_id = ANY ($3)
       ORDER BY a.message_id, a.position`,
      [tenantId, conversationIds, messageIds],
    );
    return groupBy(rows, ({ messageId }) => messageId);
  }

  /** Lists the ids of the attachments of messages. */
  async listIds(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    messageIds: string[],
  ): Promise<string[]> {
    if (messageIds.length === 0) return [];
    const rows = await tx.query<{ id: string }>(
      'SELECT id FROM attachments WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3)',
      [tenantId, conversationId, messageIds],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Lists the attachments of a conversation whose bytes are stored, by message. Never lists a part of a
   * message's attachments.
   * @param after id of a message
   * @param count number of messages
   */
  listStored(
    { tenantId, conversationId }: ConversationKey,
    after: string,
    count: number,
  ): Promise<AttachmentEntity[]> {
    return this.database.query<AttachmentEntity>(
      `${SELECT} WHERE a.tenant_id = $1 AND a.conversation_id = $2 AND a.state = 'READY' AND a.message_id IN (
         SELECT message_id FROM attachments WHERE tenant_id = $1 AND conversation_id = $2 AND state = 'READY' AND message_id > $3
         GROUP BY message_id ORDER BY message_id LIMIT $4)
       ORDER BY a.message_id, a.position`,
      [tenantId, conversationId, after, count],
    );
  }

  /** Makes a locked attachment READY with its file. */
  async setReady(
    tx: Transaction,
    { tenantId, attachmentId }: AttachmentKey,
    { fileId, name }: { fileId: string; name: string },
    { kind, contentType, size }: FileFacts,
  ): Promise<void> {
    await tx.query(
      `UPDATE attachments SET state = 'READY', problem = NULL, file_id = $3, name = coalesce(nullif($4, ''), name), kind = $5, content_type = $6,
         size = $7 WHERE tenant_id = $1 AND id = $2`,
      [tenantId, attachmentId, fileId, name, kind, contentType, size],
    );
  }

  async setCaption(
    tx: Transaction,
    { tenantId, attachmentId }: AttachmentKey,
    caption: string | null,
  ): Promise<void> {
    await tx.query('UPDATE attachments SET caption = $3 WHERE tenant_id = $1 AND id = $2', [
      tenantId,
      attachmentId,
      caption,
    ]);
  }

  /** Makes a locked attachment FAILED for a reason; null makes it PENDING again. */
  async setProblem(
    tx: Transaction,
    { tenantId, attachmentId }: AttachmentKey,
    problem: AttachmentProblem | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE attachments SET state = CASE WHEN $3::text IS NULL THEN 'PENDING' ELSE 'FAILED' END, problem = $3
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, attachmentId, problem],
    );
  }

  /**
   * Deletes the attachments of erased messages.
   * @returns the ids of their files
   */
  async erase(tx: Transaction, { tenantId, conversationId, ids }: ErasedMessages): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await tx.query<{ fileId: string | null }>(
      `DELETE FROM attachments WHERE tenant_id = $1 AND conversation_id = $2 AND message_id = ANY ($3)
       RETURNING file_id AS "fileId"`,
      [tenantId, conversationId, ids],
    );
    return rows.map(({ fileId }) => fileId).filter((fileId) => fileId !== null);
  }
}
