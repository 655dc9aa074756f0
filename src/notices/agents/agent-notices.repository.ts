import { Injectable } from '@nestjs/common';
import { LOWEST_ID, newId } from '../../common/ids';
import { listsOf } from '../../database/key-list';
import { WorkspaceServer } from '../../database/placement/placement';
import { AgentKey, ConversationKey } from '../../database/tables/table-declaration';
import { Transaction } from '../../database/transaction';
import { DUE_ROWS, DuePosition, DueStep, searchDue } from '../../queue/polling/due-position';
import { isSuspended } from '../../workspaces/suspension';
import { NoticeMatter, NoticeWay } from './notice-choices.dto';

/** Time for which a worker has notices for itself: more than a mail may take. */
const LEASE = `interval '2 minutes'`;
/** Maximum number of an agent's notices by one way. An agent who has as many gets no further ones. */
const MAX_OF_AGENT = 200;

/** Agent who gets notices by one way. */
export interface NoticeRecipient extends AgentKey {
  way: NoticeWay;
}

/** Notice that an agent is owed. */
export interface OwedNotice extends NoticeRecipient {
  conversationId: string;
  matter: NoticeMatter;
  /** Id of the newest message, or of the audit entry of the assignment. */
  subjectId: string;
  /** Notice about the conversation that is over, which this one replaces; null if there is none. */
  formerId: string | null;
}

/** Notices that go out together in one mail or push message. */
export interface ClaimedNotices {
  sendingId: string;
  tries: number;
}

export interface NoticeContent {
  conversationId: string;
  matter: NoticeMatter;
  contactName: string | null;
  /** Beginning of the newest message; null if no customer waits for an answer. */
  preview: string | null;
  workspaceName: string;
  workspaceSlug: string;
}

/**
 * SQL condition that a notice is over: the agent has looked at the conversation, or the matter has ended. `n`
 * is the notice, `c` its conversation, and `r` the agent's read mark, whose columns may be null.
 */
export const IS_OVER = `(c.status <> 'OPEN' OR CASE n.matter
  WHEN 'ASSIGNMENT' THEN c.assigned_agent_id IS DISTINCT FROM n.agent_id OR NOT coalesce(r.is_unread, false)
  ELSE c.waiting_message_id IS NULL OR c.waiting_message_id > n.subject_id
    OR coalesce(r.message_id, '${LOWEST_ID}') >= n.subject_id
    OR CASE n.matter WHEN 'MINE' THEN c.assigned_agent_id IS DISTINCT FROM n.agent_id
       ELSE c.assigned_agent_id IS NOT NULL END
  END)`;

/** SQL condition on `agent_notices` that a notice is for the recipient $1, $2, $3. */
const OF_RECIPIENT = 'tenant_id = $1 AND agent_id = $2 AND way = $3';

/**
 * Writes the table `agent_notices`: notices to agents who are not there, at most one for each conversation,
 * agent and way.
 */
@Injectable()
export class AgentNoticesRepository {
  /**
   * Adds notices of one recipient, in place of notices that are over. Does nothing for a notice that another
   * worker has added. An agent who has too many gets no further ones.
   */
  async add(tx: Transaction, notices: OwedNotice[]): Promise<void> {
    const { tenantId, agentId, way } = notices[0]!;
    const recipient = [tenantId, agentId, way];
    const formerIds = notices.flatMap(({ formerId }) => formerId ?? []);
    await tx.query('DELETE FROM agent_notices WHERE tenant_id = $1 AND id = ANY ($2)', [tenantId, formerIds]);
    const own = await tx.query(
      `SELECT FROM agent_notices WHERE ${OF_RECIPIENT} LIMIT ${MAX_OF_AGENT}`,
      recipient,
    );
    const added = notices.slice(0, MAX_OF_AGENT - own.length);
    await tx.query(
      `INSERT INTO agent_notices
         (tenant_id, agent_id, way, id, conversation_id, matter, subject_id, due_at, created_at)
       SELECT $1, $2, $3, owed.*, now(), now()
       FROM unnest($4::uuid[], $5::uuid[], $6::text[], $7::uuid[]) AS owed (id, conversation_id, matter, subject_id)
       ON CONFLICT (tenant_id, conversation_id, agent_id, way) DO NOTHING`,
      [...recipient, added.map(() => newId()), ...listsOf(added, 'conversationId', 'matter', 'subjectId')],
    );
  }

  /** Finds the recipients of up to 1,000 notices of a database server that are due. */
  findDue(after: DuePosition, server: WorkspaceServer): Promise<DueStep<NoticeRecipient>> {
    return searchDue<NoticeRecipient>(
      server,
      after,
      `SELECT tenant_id AS "tenantId", agent_id AS "agentId", way, due_at::text AS "dueAt"
       FROM agent_notices WHERE due_at <= now() AND due_at >= $1::timestamptz
       ORDER BY due_at LIMIT ${DUE_ROWS} OFFSET $2`,
    );
  }

  /**
   * Deletes the recipient's notices that are over, or of a suspended workspace, and the due ones that the
   * agent does not want any more or may not get.
   */
  async deleteOver(tx: Transaction, { tenantId, agentId, way }: NoticeRecipient): Promise<void> {
    await tx.query(
      `DELETE FROM agent_notices n WHERE ${OF_RECIPIENT} AND NOT EXISTS (
         SELECT FROM conversations c
         JOIN agents a ON a.tenant_id = $1 AND a.id = $2 AND a.active
         JOIN agent_notice_choices k ON k.tenant_id = $1 AND k.agent_id = $2
           AND (n.due_at IS NULL OR n.matter = ANY (CASE $3 WHEN 'MAIL' THEN k.mail_matters ELSE k.push_matters END)
             AND ($3 = 'PUSH' OR k.mail_refused_at IS NULL))
         LEFT JOIN read_marks r ON r.tenant_id = $1 AND r.agent_id = $2 AND r.conversation_id = c.id
         WHERE c.tenant_id = $1 AND c.id = n.conversation_id AND NOT ${IS_OVER} AND NOT ${isSuspended('$1')})`,
      [tenantId, agentId, way],
    );
  }

  async hasDue(tx: Transaction, { tenantId, agentId, way }: NoticeRecipient): Promise<boolean> {
    const due = await tx.query(
      `SELECT FROM agent_notices WHERE ${OF_RECIPIENT} AND due_at <= now() LIMIT 1`,
      [tenantId, agentId, way],
    );
    return due.length > 0;
  }

  /** Lets the recipient's due notices wait, without a try. */
  async postpone(tx: Transaction, { tenantId, agentId, way }: NoticeRecipient, until: Date): Promise<void> {
    await tx.query(`UPDATE agent_notices SET due_at = $4 WHERE ${OF_RECIPIENT} AND due_at <= now()`, [
      tenantId,
      agentId,
      way,
      until,
    ]);
  }

  /**
   * Claims due notices of a recipient that go out together, and counts the try before it begins: the notices
   * of one sending that was tried before, or else all notices that were not tried yet. So a message that is
   * sent again has no new notices.
   * @returns null if none is due, or another worker has them
   */
  async claim(
    tx: Transaction,
    { tenantId, agentId, way }: NoticeRecipient,
    newSendingId: string,
  ): Promise<ClaimedNotices | null> {
    const [row] = await tx.query<ClaimedNotices>(
      `WITH first AS (
         SELECT sending_id FROM agent_notices WHERE ${OF_RECIPIENT} AND due_at <= now()
         ORDER BY sending_id NULLS LAST LIMIT 1
       )
       UPDATE agent_notices n SET tries = tries + 1, due_at = now() + ${LEASE}, sending_id = coalesce(n.sending_id, $4)
       FROM first WHERE n.tenant_id = $1 AND n.agent_id = $2 AND n.way = $3 AND n.due_at <= now()
         AND n.sending_id IS NOT DISTINCT FROM first.sending_id
       RETURNING n.sending_id AS "sendingId", n.tries`,
      [tenantId, agentId, way, newSendingId],
    );
    return row ?? null;
  }

  /** Lists the conversations of a sending's notices, oldest first. */
  listContents(
    tx: Transaction,
    { tenantId, agentId, way }: NoticeRecipient,
    sendingId: string,
  ): Promise<NoticeContent[]> {
    return tx.query<NoticeContent>(
      `SELECT n.conversation_id AS "conversationId", n.matter, p.name AS "contactName",
         CASE WHEN c.waiting_message_id IS NOT NULL THEN c.last_message_preview END AS preview,
         w.name AS "workspaceName", w.slug AS "workspaceSlug"
       FROM agent_notices n
       JOIN conversations c ON c.tenant_id = $1 AND c.id = n.conversation_id
       JOIN contacts p ON p.tenant_id = $1 AND p.id = c.contact_id
       JOIN workspaces w ON w.id = $1
       WHERE n.tenant_id = $1 AND n.agent_id = $2 AND n.way = $3 AND n.sending_id = $4
       ORDER BY n.subject_id LIMIT ${MAX_OF_AGENT}`,
      [tenantId, agentId, way, sendingId],
    );
  }

  /** Records that a server has taken a sending. A worker whose lease has ended records nothing. */
  async setSent(tx: Transaction, { tenantId, agentId }: NoticeRecipient, sent: ClaimedNotices) {
    await tx.query(
      `UPDATE agent_notices SET due_at = NULL, sent_at = now()
       WHERE tenant_id = $1 AND agent_id = $2 AND sending_id = $3 AND tries = $4`,
      [tenantId, agentId, sent.sendingId, sent.tries],
    );
  }

  /** Sets when a sending is tried again; null for never. */
  async schedule(
    tx: Transaction,
    { tenantId, agentId }: NoticeRecipient,
    { sendingId, tries }: ClaimedNotices,
    dueAt: Date | null,
  ): Promise<void> {
    await tx.query(
      `UPDATE agent_notices SET due_at = $5
       WHERE tenant_id = $1 AND agent_id = $2 AND sending_id = $3 AND tries = $4`,
      [tenantId, agentId, sendingId, tries, dueAt],
    );
  }

  async deleteOfRecipient(tx: Transaction, { tenantId, agentId, way }: NoticeRecipient): Promise<void> {
    await tx.query(`DELETE FROM agent_notices WHERE ${OF_RECIPIENT}`, [tenantId, agentId, way]);
  }

  async deleteOfAgent(tx: Transaction, { tenantId, agentId }: AgentKey): Promise<void> {
    await tx.query('DELETE FROM agent_notices WHERE tenant_id = $1 AND agent_id = $2', [tenantId, agentId]);
  }

  async deleteOfConversation(tx: Transaction, { tenantId, conversationId }: ConversationKey): Promise<void> {
    await tx.query('DELETE FROM agent_notices WHERE tenant_id = $1 AND conversation_id = $2', [
      tenantId,
      conversationId,
    ]);
  }
}
