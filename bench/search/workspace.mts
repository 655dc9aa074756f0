import type pg from 'pg';
import {
  BUCKET_MASK,
  BUCKET_MESSAGES,
  hashTerm,
  keyBase,
  TERM_BITS,
} from '#dist/message-search/term-keys.js';
import { withFillingClient, withoutIndexes } from '../support/filling-client.mts';
import { DAY_MS, idOf } from '../support/fixture.mts';

const SLUG = 'search-bench';
/** Words of the messages: `w0`, `w1` and so on, each about as much rarer as its number is higher. */
const WORDS = 50_000;
const WORDS_A_MESSAGE = 12;
/** Word of few messages, and one of none. */
export const [RARE, ABSENT] = [`w${WORDS}`, `w${WORDS + 1}`];
/** Number of messages with the rare word. */
const RARE_MESSAGES = 6;
/** Time over which the messages were written. */
const SPAN_MS = 60 * DAY_MS;
/** Number of messages of a conversation, and of conversations that are written in at the same time. */
const [LENGTH, TOGETHER] = [100, 100];
/** Number of messages that one statement inserts. */
const STEP = 50_000;
const CONNECTIONS = 2;

/** Workspace with the measured messages. */
export class SearchWorkspace {
  readonly id: string;
  /** Conversation of copies of messages, with which the indexer is measured. */
  readonly copiesId: string;

  /** @param since time of the first message, in milliseconds */
  constructor(
    readonly messages: number,
    readonly since: number,
  ) {
    this.id = idOf(since - DAY_MS, 1);
    this.copiesId = idOf(since - DAY_MS, 2);
  }

  /** Returns the bytes of the table and of its indexes for each message. */
  async bytes(pool: pg.Pool): Promise<Record<string, number>> {
    const { rows } = await pool.query<Record<string, number>>(
      `SELECT round(pg_table_size('message_search') / $1::float8) AS "table",
              round(pg_relation_size('message_search_pkey') / $1::float8) AS key,
              round(pg_relation_size('message_search_terms_idx') / $1::float8) AS terms`,
      [this.messages],
    );
    return rows[0]!;
  }
}

/** Returns the workspace with so many messages; fills the database first unless it has it. */
export async function filledWorkspace(
  pool: pg.Pool,
  messages: number,
  log: (line: string) => void,
): Promise<SearchWorkspace> {
  const { rows } = await pool.query<{ newer: string | null; createdAt: Date }>(
    `SELECT w.created_at AS "createdAt", p.newer
     FROM workspaces w LEFT JOIN message_search_progress p ON p.tenant_id = w.id WHERE w.slug = $1`,
    [SLUG],
  );
  const [known] = rows;
  if (known && Number(known.newer) !== messages)
    throw new Error(
      'The folder has a database of another size, or an unfinished one: remove it, or name another one by DATA_DIR.',
    );
  const since = known ? known.createdAt.getTime() : Date.now() - SPAN_MS - DAY_MS;
  const workspace = new SearchWorkspace(messages, since);
  if (!known) await fill(pool, workspace, log);
  return workspace;
}

async function fill(pool: pg.Pool, workspace: SearchWorkspace, log: (line: string) => void): Promise<void> {
  const { id: tenantId, messages, since } = workspace;
  const startedAt = performance.now();
  const note = (what: string) =>
    log(`  ${what} after ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  log(`Filling the database: ${messages} messages`);
  await withFillingClient(pool, async (db) => {
    await db.query(
      `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
       VALUES ($1, 'Search', '${SLUG}', 'ENTERPRISE', pg_temp.at($2), now())`,
      [tenantId, since],
    );
    await db.query(
      `INSERT INTO contacts (tenant_id, id, name, created_at, updated_at) VALUES ($1, $1, 'Ana', now(), now())`,
      [tenantId],
    );
    await db.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
       SELECT $1, id, $1, 'WIDGET', 'OPEN', pg_temp.at($2), pg_temp.at($2)
       FROM (SELECT pg_temp.id_of($2, n) AS id FROM generate_series(0, $3::bigint) AS n UNION ALL SELECT $4) AS c`,
      [tenantId, since, Math.ceil(messages / LENGTH) + TOGETHER, workspace.copiesId],
    );
    await withoutIndexes(db, 'message_search', async () => {
      let next = 0;
      const insertSteps = (one: pg.PoolClient) => async () => {
        for (let from = next; from < messages; from = next) {
          next += STEP;
          await insertMessages(one, workspace, from, Math.min(messages, from + STEP) - 1);
        }
      };
      await Promise.all(
        Array.from({ length: CONNECTIONS }, () => withFillingClient(pool, (one) => insertSteps(one)())),
      );
      note('messages and their keys');
    });
    note('the index of the words');
    await db.query('VACUUM (ANALYZE) messages, message_search, conversations');
    await db.query(
      `INSERT INTO message_search_progress (tenant_id, first_id, indexed_until, newer, stage, position_conversation,
         position_message)
       VALUES ($1, $2, $2, $3, 'DONE', $2, $2)`,
      [tenantId, idOf(since, 0), messages],
    );
  });
  await pool.query('CHECKPOINT');
  note('all');
}

/** Inserts messages by their numbers, and their rows in the index as the indexer would. */
async function insertMessages(
  db: pg.PoolClient,
  { id, messages, since }: SearchWorkspace,
  from: number,
  to: number,
): Promise<void> {
  const key = `((($6::bigint + i / ${BUCKET_MESSAGES}) & ${BUCKET_MASK}) << ${TERM_BITS})`;
  await db.query(
    `WITH m AS MATERIALIZED (
       SELECT i, pg_temp.id_of($2::bigint + i * ${SPAN_MS} / $3::bigint, i) AS id, ${CONVERSATION} AS conversation_id,
         ARRAY(SELECT floor(power(${WORDS}, random()))::integer FROM generate_series(1, ${WORDS_A_MESSAGE}) WHERE i >= 0)
           || CASE WHEN i % ($3::bigint / ${RARE_MESSAGES}) = 7 THEN '{${WORDS}}'::integer[] END AS words
       FROM generate_series($4::bigint, $5::bigint) AS i
     ), texts AS (
       INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
       SELECT $1, conversation_id, id, 'CUSTOMER', 'w' || array_to_string(words, ' w'), pg_temp.at($2) FROM m
     )
     INSERT INTO message_search (tenant_id, message_id, conversation_id, bucket, terms)
     SELECT $1, id, conversation_id, i / ${BUCKET_MESSAGES},
            ARRAY(SELECT DISTINCT ${key} | ($7::bigint[])[word + 1] FROM unnest(words) AS word)
     FROM m`,
    [id, since, messages, from, to, keyBase(id), HASHES],
  );
}

/** SQL of the conversation of message `i`: the messages of several conversations come by turns. */
const CONVERSATION = `pg_temp.id_of($2::bigint, i / ${LENGTH * TOGETHER} * ${TOGETHER} + i % ${TOGETHER})`;
const HASHES = Array.from({ length: WORDS + 1 }, (_, n) => hashTerm(`w${n}`));
