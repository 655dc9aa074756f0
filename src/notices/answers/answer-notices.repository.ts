import { Injectable } from '@nestjs/common';
import { WorkspaceServer } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';
import { ConversationKey } from '../../database/tables/table-declaration';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../../queue/polling/due-position';
import { isSuspended } from '../../workspaces/suspension';

/** Time for which a worker has a notice for itself: more than a mail may take. */
const LEASE = `interval '2 minutes'`;

export interface NoticeKey {
  tenantId: string;
  id: string;
}

export interface AnswerNotice extends NoticeKey {
  conversationId: string;
  /** Widget over which the visitor writes. */
  connectionId: string;
  /** First answer of which the notice tells. */
  messageId: string;
}

/** Content of a mail about unread answers, with its recipient. */
export interface NoticeContent {
  conversationId: string;
  messageId: string;
  email: string;
  /** Language of the visitor's page; null if it is unknown. */
  locale: string | null;
  workspaceName: string;
  siteKey: string;
  tries: number;
}

/** SQL condition that a message of the alias is an answer that the visitor has not read. */
export const IS_UNREAD = (message: string) => `${message}.delivery_status IN ('SENT', 'DELIVERED')`;

/** Writes the table `answer_notices`: mails about unread answers, at most one for each conversation. */
@Injectable()
export class AnswerNoticesRepository {
  /**
   * Adds a notice, in place of one whose answers the visitor has read, unless the conversation has one of
   * unread answers.
   */
  async add(tx: Transaction, notice: AnswerNotice): Promise<void> {
    const { tenantId, id, conversationId, connectionId, messageId } = notice;
    await tx.query(
      `DELETE FROM answer_notices n WHERE n.tenant_id = $1 AND n.conversation_id = $2 AND EXISTS (
         SELECT FROM messages m WHERE m.tenant_id = $1 AND m.conversation_id = $2
           AND (m.id = n.message_id AND m.delivery_status = 'READ'
             OR m.id > n.message_id AND m.sender_type = 'CUSTOMER'))`,
      [tenantId, conversationId],
    );
    await tx.query(
      `INSERT INTO answer_notices (tenant_id, id, conversation_id, connection_id, message_id, due_at, created_at)
       VALUES ($1, $2, $3, $4, $5, now(), now()) ON CONFLICT (tenant_id, conversation_id) DO NOTHING`,
      [tenantId, id, conversationId, connectionId, messageId],
    );
  }

  /** Finds up to 1,000 notices of a database server that are due. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<NoticeKey>> {
    return searchDue<NoticeKey>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", id, due_at::text AS "dueAt"
       FROM answer_notices WHERE due_at <= now() AND due_at >= $1::timestamptz
       ORDER BY due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /**
   * Claims a due notice, and counts the try before it begins.
   * @returns the number of tries; null if another worker has it
   */
  async claim(tx: Transaction, { tenantId, id }: NoticeKey): Promise<number | null> {
    const [row] = await tx.query<{ tries: number }>(
      `UPDATE answer_notices SET tries = tries + 1, due_at = now() + ${LEASE}
       WHERE tenant_id = $1 AND id = $2 AND due_at <= now() RETURNING tries`,
      [tenantId, id],
    );
    return row?.tries ?? null;
  }

  /**
   * Reads a notice's present content.
   * @returns null if its answers are read or erased, the widget is disconnected, the workspace suspended, or
   *   there is no address to which mails go
   */
  async findContent(tx: Transaction, { tenantId, id }: NoticeKey): Promise<NoticeContent | null> {
    const [row] = await tx.query<NoticeContent>(
      `SELECT n.conversation_id AS "conversationId", n.message_id AS "messageId", n.tries,
         coalesce(a.email, p.email) AS email, a.locale, w.name AS "workspaceName", k.hook_key AS "siteKey"
       FROM answer_notices n
       JOIN conversations c ON c.tenant_id = $1 AND c.id = n.conversation_id AND c.identity_external_id IS NOT NULL
       JOIN contacts p ON p.tenant_id = $1 AND p.id = c.contact_id AND p.erased_at IS NULL
       JOIN messages m ON m.tenant_id = $1 AND m.conversation_id = n.conversation_id AND m.id = n.message_id
         AND ${IS_UNREAD('m')}
       JOIN channel_connections k ON k.tenant_id = $1 AND k.id = n.connection_id AND k.status <> 'DISCONNECTED'
       JOIN workspaces w ON w.id = $1
       LEFT JOIN answer_addresses a ON a.tenant_id = $1 AND a.conversation_id = n.conversation_id
       WHERE n.tenant_id = $1 AND n.id = $2 AND a.refused_at IS NULL AND coalesce(a.email, p.email) IS NOT NULL
         AND NOT ${isSuspended('$1')}`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /** Lists the texts of a conversation's unread answers, from the notice's first one on, up to `count`. */
  async listTexts(
    tx: Transaction,
    { tenantId, conversationId }: ConversationKey,
    from: string,
    count: number,
  ): Promise<string[]> {
    const rows = await tx.query<{ body: string }>(
      `SELECT body FROM messages m
       WHERE m.tenant_id = $1 AND m.conversation_id = $2 AND m.id >= $3 AND m.sender_type = 'AGENT'
         AND m.body <> '' AND ${IS_UNREAD('m')}
       ORDER BY m.id LIMIT $4`,
      [tenantId, conversationId, from, count],
    );
    return rows.map(({ body }) => body);
  }

  /** Records that a mail was sent. A worker whose lease has ended records nothing if another has begun. */
  async setSent(tx: Transaction, { tenantId, id }: NoticeKey, tries: number): Promise<void> {
    await tx.query(
      `UPDATE answer_notices SET due_at = NULL, sent_at = now()
       WHERE tenant_id = $1 AND id = $2 AND tries = $3`,
      [tenantId, id, tries],
    );
  }

  /** Sets when a notice is tried again; null for never. */
  async schedule(tx: Transaction, { tenantId, id }: NoticeKey, tries: number, dueAt: Date | null) {
    await tx.query('UPDATE answer_notices SET due_at = $4 WHERE tenant_id = $1 AND id = $2 AND tries = $3', [
      tenantId,
      id,
      tries,
      dueAt,
    ]);
  }

  /** Sets when a claimed notice that was not sent is looked at again, and takes its try back. */
  async postpone(tx: Transaction, { tenantId, id }: NoticeKey, dueAt: Date): Promise<void> {
    await tx.query(
      'UPDATE answer_notices SET due_at = $3, tries = tries - 1 WHERE tenant_id = $1 AND id = $2',
      [tenantId, id, dueAt],
    );
  }

  async delete(tx: Transaction, { tenantId, id }: NoticeKey): Promise<void> {
    await tx.query('DELETE FROM answer_notices WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
  }

  async deleteOfConversation(tx: Transaction, { tenantId, conversationId }: ConversationKey): Promise<void> {
    await tx.query('DELETE FROM answer_notices WHERE tenant_id = $1 AND conversation_id = $2', [
      tenantId,
      conversationId,
    ]);
  }
}
