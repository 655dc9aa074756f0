import { Injectable } from '@nestjs/common';
import { HIGHEST_ID } from '../common/ids';
import { MAX_LIMIT } from '../common/page';
import { boundedCount } from '../database/bounded-count';
import { Database } from '../database/database';
import { ContactKey } from '../database/tables/table-declaration';
import { ConversationEntity } from './conversation.entity';
import { CONVERSATION_COLUMNS, ListedConversation } from './conversations.repository';
import {
  ACTIVITY,
  ActivityFilter,
  ListFilter,
  ListOrder,
  ListStatement,
  MAX_READ,
  scanByActivity,
} from './list-statement';
import { IS_LOST, LostStatus } from './lost-replies';

export interface ListPosition {
  order: ListOrder;
  /** Position behind which the list continues; without it, the list begins with its first conversation. */
  cursor?: string;
  count: number;
}

/** Conversation with its contact. `position` is the id by which the list is ordered. */
export type PositionedConversation = ListedConversation &
  Pick<ConversationEntity, 'contactId'> & { contactName: string | null; position: string };

export interface ListResult {
  rows: PositionedConversation[];
  /**
   * Position from which the next call must continue, because the statement read MAX_READ rows and found too
   * few conversations among them; null otherwise.
   */
  end: string | null;
}

export type ListedActivity = ListedConversation &
  Pick<ConversationEntity, 'lastMessageId' | 'contactId'> & {
    /**
     * Id by which the list is ordered: of the newest message, or of a conversation without messages; of the
     * waiting message in a list of those that wait.
     */
    position: string;
    contactName: string | null;
    /** Agent who wrote the newest message; null if a customer wrote it, or there is no message. */
    lastSenderAgentId: string | null;
    /** Status of the newest reply that was not delivered, or may not have been; null if there is none. */
    lost: LostStatus | null;
  };

export type ContactActivity = ListedConversation &
  Pick<ListedActivity, 'lastSenderAgentId'> & {
    /** Id of the newest message, or of a conversation without messages. */
    activity: string;
  };

const CONTACT_NAME = `(SELECT name FROM contacts WHERE tenant_id = $1 AND id = page."contactId") AS "contactName"`;

const LAST_SENDER = `(SELECT sender_agent_id FROM messages WHERE tenant_id = $1 AND conversation_id = page.id
               AND id = page."lastMessageId") AS "lastSenderAgentId"`;

const LOST = `(SELECT delivery_status FROM messages WHERE tenant_id = $1 AND conversation_id = page.id
               AND ${IS_LOST} ORDER BY conversation_id DESC, id DESC LIMIT 1) AS lost`;

/**
 * SQL that selects the ids of conversations with lost replies (`IS_LOST`), newest first; a LIMIT can be
 * appended. It reads one index row for each conversation, however many of its replies are lost.
 */
const SELECT_LOST = `
  WITH RECURSIVE lost AS (
    (SELECT conversation_id AS id FROM messages WHERE tenant_id = $1 AND ${IS_LOST}
     ORDER BY conversation_id DESC, id DESC LIMIT 1)
    UNION ALL
    SELECT (SELECT conversation_id FROM messages WHERE tenant_id = $1 AND conversation_id < lost.id AND ${IS_LOST}
            ORDER BY conversation_id DESC, id DESC LIMIT 1)
    FROM lost WHERE lost.id IS NOT NULL
  )
  SELECT id FROM lost WHERE id IS NOT NULL`;

const COUNT_LOST = boundedCount(SELECT_LOST);

const SELECT_WAITING = `SELECT waiting_message_id FROM conversations
  WHERE tenant_id = $1 AND waiting_message_id IS NOT NULL ORDER BY waiting_message_id`;

const COUNT_WAITING = `SELECT (${boundedCount(SELECT_WAITING)}) AS count, (${SELECT_WAITING} LIMIT 1) AS "firstId"`;

const hasConversation = ({ id }: { id: string | null }) => id !== null;

@Injectable()
export class ConversationListsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Finds up to `count` conversations of a list below a position. If an index, such as that by contact, leads
   * to at most MAX_READ conversations, all of them are read and sorted. Otherwise the next MAX_READ
   * conversations of the list are read, and those that the filter excludes are left out.
   */
  async find(tenantId: string, filter: ListFilter, position: ListPosition): Promise<ListResult> {
    return (
      (await this.findAmongFew(tenantId, filter, position)) ?? this.lookThrough(tenantId, filter, position)
    );
  }

  private async findAmongFew(
    tenantId: string,
    filter: ListFilter,
    { order, cursor, count }: ListPosition,
  ): Promise<ListResult | null> {
    const statement = new ListStatement(tenantId, filter, order);
    const selected = statement.selectFew();
    if (selected === null) return null;
    const rows = await this.database.prepared<PositionedConversation & { read: number }>(
      `WITH few AS MATERIALIZED (${selected}), page AS (
         SELECT * FROM few WHERE ${statement.isBehind('position', cursor)} AND ${statement.condition}
         ORDER BY position ${statement.direction} LIMIT ${statement.bind(count)}
       )
       SELECT page.*, ${CONTACT_NAME}, (SELECT count(*) FROM few)::integer AS read
       FROM (VALUES (1)) AS one LEFT JOIN page ON true ORDER BY position ${statement.direction}`,
      statement.parameters.values,
    );
    return rows[0]!.read > MAX_READ ? null : { rows: rows.filter(hasConversation), end: null };
  }

  private async lookThrough(
    tenantId: string,
    filter: ListFilter,
    { order, cursor, count }: ListPosition,
  ): Promise<ListResult> {
    const statement = new ListStatement(tenantId, filter, order);
    const list = statement.selectBehind(cursor);
    const wanted = statement.bind(count);
    const page = statement.selectPage(list, wanted);
    const rows = await this.database.prepared<PositionedConversation & { end: string | null }>(
      `WITH page AS MATERIALIZED (${page})
       SELECT page.*, ${CONTACT_NAME},
              CASE WHEN (SELECT count(*) FROM page) < ${wanted} THEN (
                SELECT position FROM (${list} OFFSET ${MAX_READ - 1} LIMIT 1) AS last) END AS end
       FROM (VALUES (1)) AS one LEFT JOIN page ON true ORDER BY position ${statement.direction}`,
      statement.parameters.values,
    );
    return { rows: rows.filter(hasConversation), end: rows[0]!.end };
  }

  /**
   * Lists up to `count` conversations behind the cursor, latest activity first, or those that wait for a
   * reply, the longest waiting first. If the filter names a channel, or an agent of those that wait, only the
   * next 1,000 conversations are searched.
   */
  listActive(tenantId: string, filter: ActivityFilter, count: number): Promise<ListedActivity[]> {
    const { parameters, position, scanned, order } = scanByActivity(tenantId, filter);
    const { channel, agentId, isWaiting } = filter;
    // The outer SELECT must have the order of the inner one, so that PostgreSQL need not sort the rows.
    const byActivity = agentId === null ? '"assignedAgentId" DESC, position DESC' : 'position DESC';
    const listOrder = isWaiting ? 'position' : byActivity;
    const searched = [
      channel && `"sourceChannel" = ${parameters.bind(channel)}`,
      isWaiting && agentId && `"assignedAgentId" = ${parameters.bind(agentId)}`,
      isWaiting && agentId === null && '"assignedAgentId" IS NULL',
    ].filter(Boolean);
    const limit = searched.length > 0 ? MAX_READ : MAX_LIMIT + 1;
    // PostgreSQL assumes a tenth of the table for a limit in a parameter, so the inner limit is a constant.
    return this.database.prepared(
      `SELECT page.*, ${CONTACT_NAME}, ${LAST_SENDER}, ${LOST}
       FROM (SELECT * FROM (SELECT ${CONVERSATION_COLUMNS}, last_message_id AS "lastMessageId", contact_id AS "contactId",
                              ${position} AS position
                            ${scanned} ORDER BY ${order} LIMIT ${limit}) AS scanned
             ${searched.length > 0 ? `WHERE ${searched.join(' AND ')}` : ''}
             ORDER BY ${listOrder} LIMIT ${parameters.bind(count)}) AS page
       ORDER BY ${listOrder}`,
      parameters.values,
    );
  }

  /** Returns the cursor after the 1,000 conversations that `listActive` searches; null if there are fewer. */
  async findScannedEnd(tenantId: string, filter: ActivityFilter): Promise<string | null> {
    const { parameters, position, scanned, order } = scanByActivity(tenantId, filter);
    const [row] = await this.database.prepared<{ position: string }>(
      `SELECT ${position} AS position ${scanned}
       ORDER BY ${order} OFFSET ${MAX_READ - 1} LIMIT 1`,
      parameters.values,
    );
    return row?.position ?? null;
  }

  /** Counts the conversations of a list; 1,001 stands for more than 1,000. */
  async count(tenantId: string, filter: ActivityFilter): Promise<number> {
    const { parameters, scanned, order } = scanByActivity(tenantId, filter);
    // The order is that of an index, so that PostgreSQL chooses it and reads no other workspace's rows.
    const sql = boundedCount(`SELECT ${scanned} ORDER BY ${order}`);
    const [row] = await this.database.pipelinedRead<{ count: number }>(sql, parameters.values);
    return row!.count;
  }

  /** Lists the ids of a workspace's newest 1,000 conversations with lost replies (`IS_LOST`). */
  async listLost(tenantId: string): Promise<string[]> {
    const sql = `${SELECT_LOST} LIMIT ${MAX_READ}`;
    const rows = await this.database.pipelinedRead<{ id: string }>(sql, [tenantId]);
    return rows.map(({ id }) => id);
  }

  /** Counts a workspace's conversations with lost replies (`IS_LOST`); 1,001 stands for more than 1,000. */
  async countLost(tenantId: string): Promise<number> {
    const [row] = await this.database.pipelinedRead<{ count: number }>(COUNT_LOST, [tenantId]);
    return row!.count;
  }

  /**
   * Counts a workspace's conversations whose customer waits for a reply; 1,001 stands for more than 1,000.
   * `firstId` is the id of the message that has waited longest; null if none does.
   */
  async countWaiting(tenantId: string): Promise<{ count: number; firstId: string | null }> {
    const [row] = await this.database.pipelinedRead<{ count: number; firstId: string | null }>(
      COUNT_WAITING,
      [tenantId],
    );
    return row!;
  }

  /** Lists a page of a contact's newest 1,000 conversations, latest activity first, below the cursor. */
  listActiveOfContact(
    { tenantId, contactId }: ContactKey,
    cursor: string | undefined,
    count: number,
  ): Promise<ContactActivity[]> {
    // PostgreSQL assumes a tenth of the table for a limit in a parameter, so the inner limit is a constant.
    return this.database.prepared(
      `SELECT page.*, ${LAST_SENDER}
       FROM (SELECT * FROM (SELECT ${CONVERSATION_COLUMNS}, last_message_id AS "lastMessageId",
                              ${ACTIVITY} AS activity
                            FROM conversations WHERE tenant_id = $1 AND contact_id = $2
                            ORDER BY id DESC LIMIT ${MAX_READ}) AS scanned
             WHERE activity < $3 ORDER BY activity DESC LIMIT $4) AS page
       ORDER BY activity DESC`,
      [tenantId, contactId, cursor ?? HIGHEST_ID, count],
    );
  }
}
