import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { AgentKey } from '../../database/tables/table-declaration';
import { Unread, UnreadConversation } from './read-mark.dto';

/** Number of a conversation's newest messages that are searched for the customer's newest one. */
const LOOKED_AT = 20;
/** Maximum number of open conversations that a count reads: of the agent, and as many without an agent. */
const SCANNED = 200;
const MAX_UNREAD = 100;
const LATEST = 5;

/**
 * SQL that follows a FROM item `c` with the columns `id` and `newest` (id of the newest message). It keeps
 * the conversations that the agent $2 has not read. The limits make PostgreSQL find each conversation's mark
 * and messages by their keys. Without them, it would read all marks or messages of the agent.
 */
const UNREAD = `
  LEFT JOIN LATERAL (
    SELECT message_id, is_unread FROM read_marks
    WHERE tenant_id = $1 AND agent_id = $2 AND conversation_id = c.id LIMIT 1
  ) AS mark ON true
  LEFT JOIN LATERAL (
    SELECT latest.id, latest.sender_type FROM (
      SELECT id, sender_type, sender_agent_id FROM messages
      WHERE tenant_id = $1 AND conversation_id = c.id AND id > coalesce(mark.message_id, '${LOWEST_ID}')
        AND c.newest > coalesce(mark.message_id, '${LOWEST_ID}')
      ORDER BY id DESC LIMIT ${LOOKED_AT}
    ) AS latest
    WHERE latest.sender_type = 'CUSTOMER' OR latest.sender_agent_id = $2
    ORDER BY latest.id DESC LIMIT 1
  ) AS last ON true
  WHERE mark.is_unread OR last.sender_type = 'CUSTOMER'`;

/**
 * Returns SQL that reads the 200 open conversations of an assignee that have the latest activity.
 * @param assignee SQL condition for the column `assigned_agent_id`, such as `= $2`
 */
const openOf = (assignee: string) => `
  (SELECT id, contact_id, last_message_id AS newest, last_message_preview FROM conversations
   WHERE tenant_id = $1 AND assigned_agent_id ${assignee} AND status = 'OPEN'
   ORDER BY assigned_agent_id DESC, coalesce(last_message_id, id) DESC LIMIT ${SCANNED})`;

@Injectable()
export class ReadMarksRepository {
  constructor(private readonly database: Database) {}

  /** Returns the ids of the given conversations that are not closed and that the agent has not read. */
  async listUnread({ tenantId, agentId }: AgentKey, ids: string[]): Promise<string[]> {
    const rows = await this.database.prepared<{ id: string }>(
      `SELECT c.id FROM (
         SELECT id, last_message_id AS newest FROM conversations
         WHERE tenant_id = $1 AND id = ANY ($3) AND status <> 'CLOSED'
       ) AS c ${UNREAD}`,
      [tenantId, agentId, ids],
    );
    return rows.map(({ id }) => id);
  }

  /**
   * Reads the agent's 200 open conversations with the latest activity, and 200 without an agent. Counts up to
   * 100 of them that the agent has not read, and returns the latest five.
   */
  async readUnread({ tenantId, agentId }: AgentKey): Promise<Unread> {
    const rows = await this.database.prepared<UnreadConversation & { count: number }>(
      `WITH unread AS MATERIALIZED (
         SELECT c.*, CASE WHEN last.sender_type = 'CUSTOMER' THEN last.id END AS "messageId"
         FROM (${openOf('= $2')} UNION ALL ${openOf('IS NULL')}) AS c ${UNREAD} LIMIT ${MAX_UNREAD}
       )
       SELECT latest.id, latest."messageId", (SELECT count(*)::integer FROM unread) AS count,
         (SELECT name FROM contacts WHERE tenant_id = $1 AND id = latest.contact_id) AS "contactName",
         CASE WHEN latest.newest = latest."messageId" THEN latest.last_message_preview END AS preview
       FROM (SELECT * FROM unread ORDER BY "messageId" DESC NULLS LAST LIMIT ${LATEST}) AS latest
       ORDER BY latest."messageId" DESC NULLS LAST`,
      [tenantId, agentId],
    );
    const latest = rows.map(({ id, messageId, contactName, preview }) => ({
      id,
      messageId,
      contactName,
      preview,
    }));
    return { count: rows[0]?.count ?? 0, latest };
  }

  /** Records that the agent has read up to a message. Returns false if this was recorded already. */
  async advance(
    tx: Transaction,
    { tenantId, agentId }: AgentKey,
    conversationId: string,
    messageId: string,
  ): Promise<boolean> {
    const rows = await tx.prepared(
      `INSERT INTO read_marks AS mark (tenant_id, agent_id, conversation_id, message_id, is_unread)
       VALUES ($1, $2, $3, $4, false)
       ON CONFLICT (tenant_id, agent_id, conversation_id)
       DO UPDATE SET message_id = greatest(mark.message_id, excluded.message_id), is_unread = false
       WHERE mark.message_id < excluded.message_id OR mark.is_unread
       RETURNING 1`,
      [tenantId, agentId, conversationId, messageId],
    );
    return rows.length > 0;
  }

  /** Marks a conversation as unread until the agent reads it. Returns false if it was marked already. */
  async setUnread(
    tx: Transaction,
    { tenantId, agentId }: AgentKey,
    conversationId: string,
  ): Promise<boolean> {
    const rows = await tx.prepared(
      `INSERT INTO read_marks AS mark (tenant_id, agent_id, conversation_id, message_id, is_unread)
       VALUES ($1, $2, $3, $4, true)
       ON CONFLICT (tenant_id, agent_id, conversation_id) DO UPDATE SET is_unread = true WHERE NOT mark.is_unread
       RETURNING 1`,
      [tenantId, agentId, conversationId, LOWEST_ID],
    );
    return rows.length > 0;
  }
}
