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
  /** Position below which the list goes on; from the top by default. */
  cursor?: string;
  count: number;
}

/**
 * Conversation with its contact, and its position in the list. The position is the id by which the list is
 * ordered.
 */
export type PositionedConversation = ListedConversation &
  Pick<ConversationEntity, 'contactId'> & { contactName: string | null; position: string };

/** Rows of a list, and the position from which the list goes on. */
export interface ListResult {
  rows: PositionedConversation[];
  /**
   * Position from which the next search goes on, if the statement read its limit of conversations before it
   * found enough; null otherwise.
   */
  end: string | null;
}

/** Conversation of a list by latest activity, with its contact. */
export type ListedActivity = ListedConversation &
  Pick<ConversationEntity, 'lastMessageId' | 'contactId'> & {
    /** Place in the list: the id of the newest message, or of the conversation before the first one. */
    activity: string;
    contactName: string | null;
    /** Agent who wrote the newest message; null if it is the customer's, or there is none. */
    lastSenderAgentId: string | null;
    /** Status of the newest lost reply; null without one. */
    lost: LostStatus | null;
  };

/** Conversation of one contact, with its place among them. */
export type ContactActivity = ListedConversation & Pick<ListedActivity, 'activity' | 'lastSenderAgentId'>;

const CONTACT_NAME = `(SELECT name FROM contacts WHERE tenant_id = $1 AND id = page."contactId") AS "contactName"`;

/** SQL of the agent who wrote the newest message of a conversation in `page`; null for a customer's. */
const LAST_SENDER = `(SELECT sender_agent_id FROM messages WHERE tenant_id = $1 AND conversation_id = page.id
               AND id = page."lastMessageId") AS "lastSenderAgentId"`;

/** SQL of the status of the newest lost reply of a conversation in `page`. */
const LOST = `(SELECT delivery_status FROM messages WHERE tenant_id = $1 AND conversation_id = page.id
               AND ${IS_LOST} ORDER BY conversation_id DESC, id DESC LIMIT 1) AS lost`;

/**
 * SQL that selects the conversations with lost replies, those that are newest themselves first. A limit
 * follows. It reads one row of the index for each, however many of its replies are lost.
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

const hasConversation = ({ id }: { id: string | null }) => id !== null;

/** Lists conversations: by filters of which not every set has an index, or by their latest activity. */
@Injectable()
export class ConversationListsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Finds up to `count` conversations below a position. If a selective filter leads to few conversations,
   * they are read and sorted; otherwise the list is looked through, MAX_READ of its conversations at once.
   */
  async find(tenantId: string, filter: ListFilter, position: ListPosition): Promise<ListResult> {
    return (
      (await this.findAmongFew(tenantId, filter, position)) ?? this.lookThrough(tenantId, filter, position)
    );
  }

  private async findAmongFew(
    tenantId: string,
    filter: ListFilter,
    { order, cursor = HIGHEST_ID, count }: ListPosition,
  ): Promise<ListResult | null> {
    const statement = new ListStatement(tenantId, filter, order);
    const selected = statement.selectFew();
    if (selected === null) return null;
    const rows = await this.database.prepared<PositionedConversation & { read: number }>(
      `WITH few AS MATERIALIZED (${selected}), page AS (
         SELECT * FROM few WHERE position < ${statement.bind(cursor)} AND ${statement.condition}
         ORDER BY position DESC LIMIT ${statement.bind(count)}
       )
       SELECT page.*, ${CONTACT_NAME}, (SELECT count(*) FROM few)::integer AS read
       FROM (VALUES (1)) AS one LEFT JOIN page ON true ORDER BY position DESC`,
      statement.parameters.values,
    );
    return rows[0]!.read > MAX_READ ? null : { rows: rows.filter(hasConversation), end: null };
  }

  private async lookThrough(
    tenantId: string,
    filter: ListFilter,
    { order, cursor = HIGHEST_ID, count }: ListPosition,
  ): Promise<ListResult> {
    const statement = new ListStatement(tenantId, filter, order);
    const list = statement.selectBelow(cursor);
    const wanted = statement.bind(count);
    const rows = await this.database.prepared<PositionedConversation & { end: string | null }>(
      `WITH page AS MATERIALIZED (
         SELECT * FROM (${list} LIMIT ${MAX_READ}) AS looked_at WHERE ${statement.condition}
         ORDER BY position DESC LIMIT ${wanted}
       )
       SELECT page.*, ${CONTACT_NAME},
              CASE WHEN (SELECT count(*) FROM page) < ${wanted} THEN (
                SELECT position FROM (${list} OFFSET ${MAX_READ - 1} LIMIT 1) AS last) END AS end
       FROM (VALUES (1)) AS one LEFT JOIN page ON true ORDER BY position DESC`,
      statement.parameters.values,
    );
    return { rows: rows.filter(hasConversation), end: rows[0]!.end };
  }

  /**
   * Lists up to `count` conversations with a status, or with any of the ids, below the cursor, the one with
   * the latest activity first. With a channel it looks among the next 1,000 conversations. Unlike
   * `find`, it reads who wrote each newest message, and looks among ids.
   */
  listActive(tenantId: string, filter: ActivityFilter, count: number): Promise<ListedActivity[]> {
    const { parameters, scanned, order } = scanByActivity(tenantId, filter);
    const { channel, agentId } = filter;
    // The order of the rows within, which PostgreSQL sees as theirs.
    const listOrder = agentId === null ? '"assignedAgentId" DESC, activity DESC' : 'activity DESC';
    // The limit within is a constant, because PostgreSQL plans an unknown one as a tenth of the table.
    return this.database.prepared(
      `SELECT page.*, ${CONTACT_NAME}, ${LAST_SENDER}, ${LOST}
       FROM (SELECT * FROM (SELECT ${CONVERSATION_COLUMNS}, last_message_id AS "lastMessageId", contact_id AS "contactId",
                              ${ACTIVITY} AS activity
                            ${scanned} ORDER BY ${order} LIMIT ${channel ? MAX_READ : MAX_LIMIT + 1}) AS scanned
             ${channel ? `WHERE "sourceChannel" = ${parameters.bind(channel)}` : ''}
             ORDER BY ${listOrder} LIMIT ${parameters.bind(count)}) AS page
       ORDER BY ${listOrder}`,
      parameters.values,
    );
  }

  /**
   * Returns the cursor behind the 1,000 conversations among which `listActive` looks; null if there are
   * fewer.
   */
  async findScannedEnd(tenantId: string, filter: ActivityFilter): Promise<string | null> {
    const { parameters, scanned, order } = scanByActivity(tenantId, filter);
    const [row] = await this.database.prepared<{ activity: string }>(
      `SELECT ${ACTIVITY} AS activity ${scanned}
       ORDER BY ${order} OFFSET ${MAX_READ - 1} LIMIT 1`,
      parameters.values,
    );
    return row?.activity ?? null;
  }

  /** Counts the conversations of a list by latest activity, up to 1,001. */
  async count(tenantId: string, filter: ActivityFilter): Promise<number> {
    const { parameters, scanned, order } = scanByActivity(tenantId, filter);
    // The order is the index's, so that PostgreSQL reads no other workspace's rows.
    const sql = boundedCount(`SELECT ${scanned} ORDER BY ${order}`);
    const [row] = await this.database.pipelinedRead<{ count: number }>(sql, parameters.values);
    return row!.count;
  }

  /** Lists the conversations with lost replies, up to the newest 1,000. */
  async listLost(tenantId: string): Promise<string[]> {
    const sql = `${SELECT_LOST} LIMIT ${MAX_READ}`;
    const rows = await this.database.pipelinedRead<{ id: string }>(sql, [tenantId]);
    return rows.map(({ id }) => id);
  }

  /** Counts the conversations with lost replies, up to 1,001. */
  async countLost(tenantId: string): Promise<number> {
    const [row] = await this.database.pipelinedRead<{ count: number }>(COUNT_LOST, [tenantId]);
    return row!.count;
  }

  /**
   * Lists up to `count` of a contact's 1,000 newest conversations below the cursor, the one with the latest
   * activity first.
   */
  listActiveOfContact(
    { tenantId, contactId }: ContactKey,
    cursor: string | undefined,
    count: number,
  ): Promise<ContactActivity[]> {
    // The limit within is a constant, because PostgreSQL plans an unknown one as a tenth of the table.
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
