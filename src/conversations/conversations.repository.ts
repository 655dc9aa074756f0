import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { HIGHEST_ID, isId } from '../common/ids';
import { MAX_LIMIT } from '../common/page';
import { boundedCount } from '../database/bounded-count';
import { Database, Reader } from '../database/database';
import { Pipelined, Transaction } from '../database/transaction';
import { Parameters } from '../database/parameters';
import { PageStatement } from '../database/page-statement';
import { ContactKey, ErasedMessages } from '../database/tables/table-declaration';
import { ConversationEntity, ConversationStatus } from './conversation.entity';
import { IS_LOST, LostStatus } from './lost-replies';

export interface ConversationFilter {
  status?: ConversationStatus;
  channel?: Channel;
  cursor?: string;
}

export type ListedConversation = Pick<
  ConversationEntity,
  | 'id'
  | 'sourceChannel'
  | 'status'
  | 'snoozedUntil'
  | 'assignedAgentId'
  | 'lastMessagePreview'
  | 'lastMessageAt'
  | 'createdAt'
>;

/** Filter of a list by latest activity. `agentId` is null for the conversations that are nobody's. */
export interface ActivityFilter {
  /** Left out only with `ids`. */
  status?: ConversationStatus;
  channel?: Channel;
  agentId?: string | null;
  cursor?: string;
  /** Ids of the only conversations that are looked at. */
  ids?: string[];
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

/** Number of conversations among which a page looks for those on one channel, or of one contact. */
const MAX_SCANNED = 1_000;

/** Columns of a ListedConversation, in SQL. */
export const CONVERSATION_COLUMNS = `id, source_channel AS "sourceChannel", status, snoozed_until AS "snoozedUntil",
  assigned_agent_id AS "assignedAgentId", last_message_preview AS "lastMessagePreview",
  last_message_at AS "lastMessageAt", created_at AS "createdAt"`;

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

/** SQL that selects a whole conversation. Conditions and a lock follow. */
export const SELECT_CONVERSATION = `
  SELECT tenant_id AS "tenantId", id, contact_id AS "contactId", source_channel AS "sourceChannel",
         identity_external_id AS "identityExternalId", status, snoozed_until AS "snoozedUntil",
         assigned_agent_id AS "assignedAgentId", last_message_id AS "lastMessageId",
         last_message_preview AS "lastMessagePreview", last_message_at AS "lastMessageAt",
         event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt"
  FROM conversations`;

/** Customer of a conversation, as the channel knows them. */
export type ConversationPartner = Pick<ConversationEntity, 'tenantId' | 'contactId' | 'sourceChannel'> & {
  identityExternalId: string;
};

/** Contact of a conversation, by the name that it has now. */
export interface ConversationContact {
  conversationId: string;
  contactId: string;
  contactName: string | null;
}

/** New values of a conversation; a key that is left out keeps its value. */
export type ConversationChange = Partial<
  Pick<ConversationEntity, 'status' | 'assignedAgentId' | 'snoozedUntil'>
> &
  Pick<ConversationEntity, 'updatedAt'>;

export interface LastMessage {
  id: string;
  preview: string;
  at: Date;
}

/** Returns the number of the next event of a locked conversation. */
export function nextSequence({ eventSequence }: ConversationEntity): string {
  return String(BigInt(eventSequence) + 1n);
}

@Injectable()
export class ConversationsRepository {
  constructor(private readonly database: Database) {}

  async find(tenantId: string, id: string): Promise<ConversationEntity | null> {
    return isId(id) ? this.database.manager.findOneBy(ConversationEntity, { tenantId, id }) : null;
  }

  /** Finds a conversation in a transaction, without a lock. */
  async findIn(tx: Transaction, tenantId: string, id: string): Promise<ConversationEntity | null> {
    const [row] = await tx.query<ConversationEntity>(
      `${SELECT_CONVERSATION} WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /** Finds those of the conversations that the workspace has. */
  async findMany(tenantId: string, ids: string[]): Promise<ConversationEntity[]> {
    if (ids.length === 0) return [];
    const sql = `${SELECT_CONVERSATION} WHERE tenant_id = $1 AND id = ANY ($2)`;
    return this.database.pipelinedRead(sql, [tenantId, ids]);
  }

  async exists(tenantId: string, id: string, reader: Reader = this.database): Promise<boolean> {
    if (!isId(id)) return false;
    const sql = 'SELECT FROM conversations WHERE tenant_id = $1 AND id = $2';
    return (await reader.prepared(sql, [tenantId, id])).length > 0;
  }

  /**
   * Lists conversations below the cursor, the newest first. Each set of filters is a statement with a plan of
   * its own.
   */
  list(
    tenantId: string,
    { status, channel, cursor }: ConversationFilter,
    count: number,
  ): Promise<ListedConversation[]> {
    const page = new PageStatement(CONVERSATION_COLUMNS, 'conversations').where('tenant_id = ?', tenantId);
    if (status) page.where('status = ?', status);
    if (channel) page.where('source_channel = ?', channel);
    return page.read(this.database, cursor, count);
  }

  /**
   * Lists up to `count` conversations with a status, or with any of the ids, below the cursor, the one with
   * the latest activity first. With a channel it looks among the next 1,000 conversations. The inbox has this
   * list beside the one of `ConversationListsRepository`, because it also reads who wrote each newest
   * message, and looks among ids.
   */
  listActive(tenantId: string, filter: ActivityFilter, count: number): Promise<ListedActivity[]> {
    const { parameters, scanned, order } = scanByActivity(tenantId, filter);
    const { channel, agentId } = filter;
    // The order of the rows within, which PostgreSQL sees as theirs.
    const listOrder = agentId === null ? '"assignedAgentId" DESC, activity DESC' : 'activity DESC';
    // The limit within is a constant, because PostgreSQL plans an unknown one as a tenth of the table.
    return this.database.prepared(
      `SELECT page.*, (SELECT name FROM contacts WHERE tenant_id = $1 AND id = page."contactId") AS "contactName",
              ${LAST_SENDER}, ${LOST}
       FROM (SELECT * FROM (SELECT ${CONVERSATION_COLUMNS}, last_message_id AS "lastMessageId", contact_id AS "contactId",
                              coalesce(last_message_id, id) AS activity
                            ${scanned} ORDER BY ${order} LIMIT ${channel ? MAX_SCANNED : MAX_LIMIT + 1}) AS scanned
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
      `SELECT coalesce(last_message_id, id) AS activity ${scanned}
       ORDER BY ${order} OFFSET ${MAX_SCANNED - 1} LIMIT 1`,
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
    const sql = `${SELECT_LOST} LIMIT ${MAX_SCANNED}`;
    const rows = await this.database.pipelinedRead<{ id: string }>(sql, [tenantId]);
    return rows.map(({ id }) => id);
  }

  /** Counts the conversations with lost replies, up to 1,001. */
  async countLost(tenantId: string): Promise<number> {
    const [row] = await this.database.pipelinedRead<{ count: number }>(COUNT_LOST, [tenantId]);
    return row!.count;
  }

  /** Returns the contact of each of the conversations that the workspace has. */
  async findContacts(tenantId: string, ids: string[]): Promise<ConversationContact[]> {
    if (ids.length === 0) return [];
    return this.database.query(
      `SELECT c.id AS "conversationId", k.id AS "contactId", k.name AS "contactName"
       FROM conversations c JOIN contacts k ON k.tenant_id = $1 AND k.id = c.contact_id
       WHERE c.tenant_id = $1 AND c.id = ANY ($2)`,
      [tenantId, ids],
    );
  }

  /** Lists the ids of a contact's conversations above an id, in their order. */
  async listByContact(
    reader: Reader,
    { tenantId, contactId }: ContactKey,
    after: string,
    count: number,
  ): Promise<string[]> {
    const rows = await reader.query<{ id: string }>(
      'SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = $2 AND id > $3 ORDER BY id LIMIT $4',
      [tenantId, contactId, after, count],
    );
    return rows.map(({ id }) => id);
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
                              coalesce(last_message_id, id) AS activity
                            FROM conversations WHERE tenant_id = $1 AND contact_id = $2
                            ORDER BY id DESC LIMIT ${MAX_SCANNED}) AS scanned
             WHERE activity < $3 ORDER BY activity DESC LIMIT $4) AS page
       ORDER BY activity DESC`,
      [tenantId, contactId, cursor ?? HIGHEST_ID, count],
    );
  }

  /**
   * Locks a conversation. Every write to it takes this lock first, so that ids and event numbers follow the
   * order of commits.
   */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<ConversationEntity | null> {
    if (!isId(id)) return null;
    const [row] = await tx.prepared<ConversationEntity>(
      `${SELECT_CONVERSATION} WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /**
   * Locks the newest conversation with a contact on a channel, as `lock` does. Answers go to the identity
   * from now on.
   */
  async lockLatest(tx: Transaction, partner: ConversationPartner): Promise<ConversationEntity | null> {
    const { tenantId, contactId, sourceChannel, identityExternalId } = partner;
    const latest = await tx.manager.findOne(ConversationEntity, {
      where: { tenantId, contactId, sourceChannel },
      order: { id: 'DESC' },
      lock: { mode: 'for_no_key_update' },
    });
    if (!latest || latest.identityExternalId === identityExternalId) return latest;
    await tx.manager.update(ConversationEntity, { tenantId, id: latest.id }, { identityExternalId });
    return { ...latest, identityExternalId };
  }

  /**
   * Gives the newest conversations of contacts to another one, up to 1,000, more than a person has.
   * @returns the ids of the conversations
   */
  async moveToContact(
    tx: Transaction,
    { tenantId, contactId }: ContactKey,
    from: string[],
  ): Promise<string[]> {
    const rows = await tx.query<{ id: string }>(
      `UPDATE conversations SET contact_id = $3 WHERE tenant_id = $1 AND id IN (
         SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = ANY ($2)
         ORDER BY id DESC LIMIT ${MAX_SCANNED} FOR NO KEY UPDATE)
       RETURNING id`,
      [tenantId, from, contactId],
    );
    return rows.map(({ id }) => id);
  }

  /** Makes answers in a contact's newest conversations go to an identity instead of others. */
  async redirect(tx: Transaction, partner: ConversationPartner, replaced: string[]): Promise<void> {
    const { tenantId, contactId, sourceChannel, identityExternalId } = partner;
    await tx.query(
      `UPDATE conversations SET identity_external_id = $4 WHERE tenant_id = $1 AND id IN (
         SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = $2
         ORDER BY id DESC LIMIT ${MAX_SCANNED})
       AND source_channel = $3 AND identity_external_id = ANY ($5)`,
      [tenantId, contactId, sourceChannel, identityExternalId, replaced],
    );
  }

  /**
   * Makes answers in the newest conversations of contacts go to other ids of theirs than to some, which they
   * have no longer.
   */
  async forgetIdentities(
    tx: Transaction,
    tenantId: string,
    channel: Channel,
    { contactIds, ids }: { contactIds: string[]; ids: string[] },
  ): Promise<void> {
    await tx.query(
      `UPDATE conversations SET identity_external_id = NULL WHERE tenant_id = $1 AND id IN (
         SELECT id FROM conversations WHERE tenant_id = $1 AND contact_id = ANY ($2)
         ORDER BY id DESC LIMIT ${MAX_SCANNED})
       AND source_channel = $3 AND identity_external_id = ANY ($4)`,
      [tenantId, contactIds, channel, ids],
    );
  }

  async insert(tx: Transaction, conversation: ConversationEntity): Promise<void> {
    await tx.manager.insert(ConversationEntity, conversation);
  }

  /**
   * Changes a conversation.
   * @param events number of events that report it: 0 or 1
   * @returns the number of its latest event
   */
  async update(
    tx: Transaction,
    tenantId: string,
    id: string,
    change: ConversationChange,
    events: number,
  ): Promise<string> {
    const { status, assignedAgentId, snoozedUntil, updatedAt } = change;
    const rows = await tx.query<{ sequence: string }>(
      `UPDATE conversations
       SET status = coalesce($3, status),
           assigned_agent_id = CASE WHEN $4 THEN $5 ELSE assigned_agent_id END,
           snoozed_until = CASE WHEN $6 THEN $7 ELSE snoozed_until END,
           updated_at = $8,
           event_sequence = event_sequence + $9
       WHERE tenant_id = $1 AND id = $2 RETURNING event_sequence AS sequence`,
      [
        tenantId,
        id,
        status ?? null,
        assignedAgentId !== undefined,
        assignedAgentId ?? null,
        snoozedUntil !== undefined,
        snoozedUntil ?? null,
        updatedAt,
        events,
      ],
    );
    return rows[0]!.sequence;
  }

  /** Stores what a new message changes in its conversation, with the number of the message's event. */
  setLastMessagePipelined(
    tx: Transaction,
    { tenantId, id }: ConversationEntity,
    last: LastMessage,
    sequence: string,
  ): Pipelined {
    return tx.pipeline(
      `UPDATE conversations
       SET last_message_id = $3, last_message_preview = $4, last_message_at = $5, updated_at = $5,
           event_sequence = $6
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, last.id, last.preview, last.at, sequence],
    );
  }

  /** Stores the preview of a changed message, with the number of the event that tells of it. */
  setPreviewPipelined(
    tx: Transaction,
    { tenantId, id, lastMessagePreview }: ConversationEntity,
    updatedAt: Date,
    sequence: string,
  ): Pipelined {
    return tx.pipeline(
      `UPDATE conversations SET last_message_preview = $3, updated_at = $4, event_sequence = $5
       WHERE tenant_id = $1 AND id = $2`,
      [tenantId, id, lastMessagePreview, updatedAt, sequence],
    );
  }

  /**
   * Erases the preview if it is of one of these messages. Erases the contact's id on the channel if the
   * contact is erased too.
   */
  async erase(tx: Transaction, messages: ErasedMessages): Promise<void> {
    const { tenantId, conversationId, ids, withContact } = messages;
    await tx.query(
      `UPDATE conversations SET last_message_preview = ''
       WHERE tenant_id = $1 AND id = $2 AND last_message_id = ANY ($3) AND last_message_preview <> ''`,
      [tenantId, conversationId, ids],
    );
    if (!withContact) return;
    await tx.query(
      `UPDATE conversations SET identity_external_id = NULL
       WHERE tenant_id = $1 AND id = $2 AND identity_external_id IS NOT NULL`,
      [tenantId, conversationId],
    );
  }
}

/**
 * Makes the part of a statement that reads the conversations below a cursor in the order of an index, or
 * those with the ids.
 */
function scanByActivity(tenantId: string, { status, agentId, cursor, ids }: ActivityFilter) {
  const parameters = new Parameters();
  const tenant = `tenant_id = ${parameters.bind(tenantId)}`;
  const conditions = [tenant];
  if (status) conditions.push(`status = ${parameters.bind(status)}`);
  if (agentId === null) conditions.push('assigned_agent_id IS NULL');
  if (agentId) conditions.push(`assigned_agent_id = ${parameters.bind(agentId)}`);
  if (cursor) conditions.push(`coalesce(last_message_id, id) < ${parameters.bind(cursor)}`);
  // PostgreSQL does not see that IS NULL leaves one value, so the order names that column too.
  const first = agentId === null ? 'assigned_agent_id DESC, ' : '';
  // OFFSET 0 makes PostgreSQL look the few rows up first. Otherwise it would read the index of all in their
  // order.
  const table = ids
    ? `(SELECT * FROM conversations WHERE ${tenant} AND id = ANY (${parameters.bind(ids)}) OFFSET 0) AS named`
    : 'conversations';
  return {
    parameters,
    scanned: `FROM ${table} WHERE ${conditions.join(' AND ')}`,
    order: `${first}coalesce(last_message_id, id) DESC`,
  };
}
