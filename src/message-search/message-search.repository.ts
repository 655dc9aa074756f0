import { Injectable } from '@nestjs/common';
import { Channel } from '../common/channel-descriptors';
import { idFloor, idTime, LOWEST_ID } from '../common/ids';
import { ConversationStatus } from '../conversations/conversation.entity';
import { Database } from '../database/database';
import { expectFewRows } from '../database/index-condition';
import { expectOneRow } from '../database/key-list';
import { SenderType } from '../messages/message.entity';
import { FoundConversation } from './message-search.dto';
import { MessageKeys } from './message-index.repository';
import { BUCKET_MASK, bucketOf, hashTerm, keyBase, TERM_BITS } from './term-keys';

/** Filled buckets of a workspace's index. A bucket contains the words of 4,096 successive messages. */
export interface IndexRange {
  /** Whether the index has all messages. An index that an earlier version began may lack the oldest ones. */
  isComplete: boolean;
  newest: number;
  oldest: number;
  /** Id of the oldest message in the index. */
  filledFrom: string;
}

/** Range of buckets by their numbers, both inclusive. Newer messages are in buckets with higher numbers. */
export type Buckets = Pick<IndexRange, 'newest' | 'oldest'>;

export interface Candidate extends MessageKeys {
  senderType: SenderType;
  senderAgentId: string | null;
  body: string;
  firstBody: string | null;
  createdAt: Date;
  sourceChannel: Channel;
  status: ConversationStatus;
  contactId: string;
  contactName: string | null;
}

export type ConversationOfContact = Omit<FoundConversation, 'contact'> & { contactId: string };

const KEYS = `(SELECT array_agg((($4::bigint + at.number & ${BUCKET_MASK}) << ${TERM_BITS}) | term) FROM unnest($5::bigint[]) AS term)`;

/**
 * SQL that finds messages with all of some terms. It reads one bucket after another by the GIN index, the
 * newest first, until it has enough messages. `OFFSET 0` prevents a plan that reads the rows of the whole
 * workspace in the order of their ids. The join keeps the order of the buckets, because its inner side
 * depends on the outer one. Parameters: $1 workspace, $2 upper id (exclusive), $3 count, $4 `keyBase`, $5
 * hashes of the terms, $6 newest and $7 oldest bucket.
 */
const FIND_BY_TERMS = `
  SELECT found.id, found.conversation_id AS "conversationId"
  FROM generate_series($6::integer, $7::integer, -1) AS at (number) CROSS JOIN LATERAL (
    SELECT * FROM (
      SELECT tenant_id, message_id AS id, conversation_id FROM message_search
      WHERE tenant_id = $1 AND ${expectFewRows(`terms @> ${KEYS}`)} OFFSET 0
    ) AS matching WHERE id < $2 ORDER BY id DESC LIMIT $3) AS found
  LIMIT $3`;

@Injectable()
export class MessageSearchRepository {
  constructor(private readonly database: Database) {}

  /** Returns the filled buckets with messages below the id `before`; null if there is no index yet. */
  async findRange(tenantId: string, before: string): Promise<IndexRange | null> {
    const [row] = await this.database.prepared<{
      isComplete: boolean;
      newer: number;
      older: number;
      filledFrom: string;
    }>(
      `SELECT stage = 'DONE' AS "isComplete", newer::float8 AS newer, older::float8 AS older,
              CASE stage WHEN 'DONE' THEN $2 ELSE first_id END AS "filledFrom"
       FROM message_search_progress WHERE tenant_id = $1`,
      [tenantId, LOWEST_ID],
    );
    if (!row) return null;
    const { isComplete, newer, older, filledFrom } = row;
    const oldest = bucketOf(-older);
    const at = await this.findNewest(tenantId, before, filledFrom);
    return { isComplete, newest: at?.bucket ?? bucketOf(newer), oldest, filledFrom };
  }

  /**
   * Finds up to `count` messages below the id `before`, in the given buckets, that have all terms, newest
   * first. A found message may lack a term, because two terms may have the same hash.
   */
  findByTerms(
    tenantId: string,
    {
      before,
      terms,
      buckets: { newest, oldest },
    }: { before: string; terms: Iterable<string>; buckets: Buckets },
    count: number,
  ): Promise<MessageKeys[]> {
    const hashes = [...new Set([...terms].map(hashTerm))];
    const parameters = [tenantId, before, count, keyBase(tenantId), hashes, newest, oldest];
    return this.database.readByIndex<MessageKeys>(FIND_BY_TERMS, parameters);
  }

  /**
   * Returns the id of a message down to which a search has covered all indexed messages below the id
   * `before`. `buckets` are the last ones that the search has read. If they have no messages, returns the
   * oldest message that was covered, to within a millisecond; null if there is none. Takes up to 41
   * statements.
   */
  async findLast(
    tenantId: string,
    {
      before,
      buckets: { newest, oldest },
      range: { filledFrom },
    }: { before: string; buckets: Buckets; range: IndexRange },
  ): Promise<string | null> {
    let last = await this.findNewest(tenantId, before, filledFrom);
    if (!last || last.bucket < oldest) return null;
    let [low, high] = [idTime(filledFrom).getTime(), idTime(last.id).getTime()];
    while (last.bucket > newest && high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      const found = await this.findNewest(tenantId, idFloor(new Date(middle)), filledFrom);
      if (found && found.bucket >= oldest) [last, high] = [found, middle];
      else low = middle;
    }
    return last.id;
  }

  /** Finds the newest message below the id `before` that has terms. Reads only the next 100 messages. */
  private async findNewest(
    tenantId: string,
    before: string,
    filledFrom: string,
  ): Promise<{ id: string; bucket: number } | undefined> {
    const [row] = await this.database.prepared<{ id: string; bucket: number }>(
      `SELECT id, bucket FROM (
         SELECT message_id AS id, bucket FROM message_search
         WHERE tenant_id = $1 AND message_id < $2 AND message_id >= $3 ORDER BY message_id DESC LIMIT 100) AS newest
       WHERE bucket IS NOT NULL LIMIT 1`,
      [tenantId, before, filledFrom],
    );
    return row;
  }

  /** Reads messages with their conversations and contacts, in any order. */
  findTexts(
    tenantId: string,
    messages: MessageKeys[],
    status: ConversationStatus | null,
  ): Promise<Candidate[]> {
    return this.database.readByIndex<Candidate>(
      `SELECT m.id, m.conversation_id AS "conversationId", m.sender_type AS "senderType",
              m.sender_agent_id AS "senderAgentId", m.body, m.first_body AS "firstBody", m.created_at AS "createdAt",
              c.source_channel AS "sourceChannel", c.status, c.contact_id AS "contactId", p.name AS "contactName"
       FROM (SELECT $1::uuid AS tenant_id, u.* FROM unnest($2::uuid[], $3::uuid[]) AS u (conversation_id, id)) AS k
       JOIN messages m ON m.tenant_id = $1 AND m.conversation_id = k.conversation_id AND m.id = k.id
       JOIN conversations c ON c.tenant_id = $1 AND c.id = k.conversation_id
       JOIN contacts p ON p.tenant_id = $1 AND p.id = c.contact_id
       WHERE ($4::text IS NULL OR c.status = $4) AND ${expectOneRow('k', 'id')}`,
      [tenantId, messages.map(({ conversationId }) => conversationId), messages.map(({ id }) => id), status],
    );
  }

  /** Lists the newest `count` conversations of each contact. */
  findConversations(tenantId: string, contactIds: string[], count: number): Promise<ConversationOfContact[]> {
    return this.database.readByIndex(
      `SELECT c.id, k.id AS "contactId", c.source_channel AS "sourceChannel", c.status,
              c.last_message_preview AS "lastMessagePreview", c.last_message_at AS "lastMessageAt",
              (SELECT sender_agent_id FROM messages WHERE tenant_id = $1 AND conversation_id = c.id
               AND id = c.last_message_id) AS "lastSenderAgentId"
       FROM unnest($2::uuid[]) AS k (id) CROSS JOIN LATERAL (
         SELECT * FROM conversations WHERE tenant_id = $1 AND contact_id = k.id ORDER BY id DESC LIMIT $3) AS c`,
      [tenantId, contactIds, count],
    );
  }
}
