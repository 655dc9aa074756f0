import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { DAY_MS, idOf } from '../support/fixture.mts';
import { withFillingClient, withoutIndexes } from '../support/filling-client.mts';

export const SLUG = 'inbox-bench';
const AGENTS = 20;
/** Time over which the conversations begin. */
const SPAN_MS = 60 * DAY_MS;
/** Time of the last message of most conversations after the first one. */
const LENGTH_MS = 2 * DAY_MS;
/** Every so many conversations one is long, and one very long. */
const [LONG_EVERY, VERY_LONG_EVERY] = [100, 5_000];
const [LONG, VERY_LONG] = [1_000, 10_000];
/** SQL of the number of messages of conversation `n`: 100 on average. */
const LENGTH = `CASE WHEN n % ${VERY_LONG_EVERY} = 0 THEN ${VERY_LONG} WHEN n % ${LONG_EVERY} = 0 THEN ${LONG}
  ELSE 20 + n * 37 % 139 END`;
const BODIES = [
  'Where is my parcel? It should have come on Tuesday.',
  'I am looking into it, one moment please.',
  'The tracking page has said "in transit" for four days now, and the shop told me to ask you. Can you see more?',
  'Thank you!',
  'It left our warehouse on Monday. The carrier says that it is in the depot of your town, and that it will be with you tomorrow between nine and one. I have asked them to ring twice.',
  'Ok',
  'Could you send it to my office instead? The address is on the invoice.',
  'Done. You get an e-mail with the new address in a few minutes.',
];

/** Workspace of the measurement, with its agents. */
export interface FilledWorkspace {
  id: string;
  agentIds: string[];
}

/** Returns the workspace with so many conversations; fills the database first unless it has it. */
export async function filledWorkspace(
  pool: pg.Pool,
  conversations: number,
  log: (line: string) => void,
): Promise<FilledWorkspace> {
  const known = await find(pool, conversations);
  if (known) return known;
  log(`Filling the database: ${conversations} conversations with 100 messages on average`);
  const startedAt = performance.now();
  const since = Date.now() - SPAN_MS - LENGTH_MS;
  await withFillingClient(pool, async (db) => {
    await insertAgents(db);
    await insertContacts(db, conversations, since);
    await insertConversations(db, conversations, since);
    await insertMessages(db, conversations, since);
    await insertChanges(db);
  });
  await pool.query('VACUUM (ANALYZE)');
  await pool.query('CHECKPOINT');
  log(`  took ${Math.round((performance.now() - startedAt) / 1000)} s`);
  return (await find(pool, conversations))!;
}

async function find(pool: pg.Pool, conversations: number): Promise<FilledWorkspace | undefined> {
  const { rows } = await pool.query<FilledWorkspace & { contacts: number; isWhole: boolean }>(
    `SELECT w.id, array_agg(a.id ORDER BY a.id) AS "agentIds",
       (SELECT count(*)::int FROM contacts c WHERE c.tenant_id = w.id AND c.name LIKE 'Customer %') AS contacts,
       EXISTS (SELECT FROM audit_entries e WHERE e.tenant_id = w.id) AS "isWhole"
     FROM workspaces w JOIN agents a ON a.tenant_id = w.id WHERE w.slug = $1 GROUP BY w.id`,
    [SLUG],
  );
  const [found] = rows;
  if (!found) return undefined;
  if (found.contacts === conversations && found.isWhole) return found;
  throw new Error(
    `The folder has a database of ${found.contacts} conversations${found.isWhole ? '' : ', unfinished'}: remove it, or ` +
      'name another one by DATA_DIR.',
  );
}

const TENANT = `(SELECT id FROM workspaces WHERE slug = '${SLUG}')`;
const BEGIN = `$2::bigint + n::bigint * (${SPAN_MS}::bigint / $1::bigint)`;
/** Makes the workspace, and agents who can log in. */
async function insertAgents(db: pg.PoolClient): Promise<void> {
  const tenantId = idOf(Date.now() - 2 * SPAN_MS, 1);
  await db.query(
    `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
     VALUES ($1, 'Inbox', '${SLUG}', 'ENTERPRISE', now(), now())`,
    [tenantId],
  );
  await db.query(`INSERT INTO workspace_slugs (slug, tenant_id) VALUES ('${SLUG}', $1)`, [tenantId]);
  await db.query(
    `INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
     SELECT pg_temp.id_of($2, n), $1, 'Agent ' || n, 'agent-' || n || '@example.com', 'OWNER', false, true, now(), now()
     FROM generate_series(1, ${AGENTS}) n`,
    [tenantId, Date.now() - 2 * SPAN_MS],
  );
  await db.query(
    `INSERT INTO people (id, email, name, theme, password_hash, created_at)
     SELECT id, email, name, 'auto', '-', now() FROM agents WHERE tenant_id = $1`,
    [tenantId],
  );
  await db.query(
    `INSERT INTO memberships (tenant_id, agent_id, person_id, created_at)
     SELECT tenant_id, id, id, now() FROM agents WHERE tenant_id = $1`,
    [tenantId],
  );
  await db.query(
    `INSERT INTO person_workspaces (person_id, tenant_id)
     SELECT person_id, tenant_id FROM memberships WHERE tenant_id = $1`,
    [tenantId],
  );
}

function insertContacts(db: pg.PoolClient, conversations: number, since: number): Promise<void> {
  return withoutIndexes(db, 'contacts', () =>
    db.query(
      `INSERT INTO contacts (tenant_id, id, name, email, attributes, created_at, updated_at)
       SELECT ${TENANT}, pg_temp.id_of(${BEGIN}, n), 'Customer ' || n, 'customer.' || n || '@example.com',
              '{"city": "Valencia"}', pg_temp.at(${BEGIN}), pg_temp.at(${BEGIN})
       FROM generate_series(1, $1::bigint) AS n`,
      [conversations, since],
    ),
  );
}

/** Inserts conversations. A fifth is open; of these every fourth is unassigned. */
function insertConversations(db: pg.PoolClient, conversations: number, since: number): Promise<void> {
  return withoutIndexes(db, 'conversations', () =>
    db.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, assigned_agent_id, event_sequence,
         last_message_id, last_message_preview, last_message_at, created_at, updated_at)
       SELECT ${TENANT}, pg_temp.id_of(ms, n), pg_temp.id_of(ms, n),
              pg_temp.pick(n, 5, '{WIDGET,WHATSAPP,TELEGRAM,MESSENGER,INSTAGRAM}'),
              CASE WHEN n % 5 = 0 THEN 'OPEN' WHEN n % 50 = 1 THEN 'SNOOZED' ELSE 'CLOSED' END,
              CASE WHEN n % 20 <> 0 THEN agents[1 + n % ${AGENTS}] END, len,
              pg_temp.id_of(ms + len * (${LENGTH_MS} / len), n * 16384 + len),
              ($3::text[])[1 + (n + len) % ${BODIES.length}], pg_temp.at(ms + len * (${LENGTH_MS} / len)),
              pg_temp.at(ms), pg_temp.at(ms + len * (${LENGTH_MS} / len))
       FROM (SELECT n, ${LENGTH} AS len, ${BEGIN} AS ms FROM generate_series(1, $1::bigint) AS n) AS c,
            (SELECT array_agg(id ORDER BY id) AS agents FROM agents WHERE tenant_id = ${TENANT}) AS a`,
      [conversations, since, BODIES],
    ),
  );
}

/**
 * Inserts the messages in the order of time: the messages of one conversation lie apart, as in production.
 */
function insertMessages(db: pg.PoolClient, conversations: number, since: number): Promise<void> {
  return withoutIndexes(db, 'messages', async () => {
    await db.query(`SET work_mem = '1GB'`);
    await db.query(
      `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
         created_at)
       SELECT tenant, pg_temp.id_of(ms, n), pg_temp.id_of(at, n * 16384 + m),
              CASE WHEN m % 2 = 0 THEN 'AGENT' ELSE 'CUSTOMER' END,
              CASE WHEN m % 2 = 0 THEN agents[1 + n % ${AGENTS}] END, bodies[1 + (n + m) % ${BODIES.length}],
              CASE WHEN m % 2 = 0 THEN 'READ' END, pg_temp.at(at)
       FROM (SELECT n, m, ms, ms + m * (${LENGTH_MS} / len) AS at
             FROM (SELECT n, ${LENGTH} AS len, ${BEGIN} AS ms FROM generate_series(1, $1::bigint) AS n) AS c,
                  generate_series(1, len) AS m ORDER BY at) AS m,
            (SELECT array_agg(id ORDER BY id) AS agents, ${TENANT} AS tenant, $3::text[] AS bodies
             FROM agents WHERE tenant_id = ${TENANT}) AS a`,
      [conversations, since, BODIES],
    );
  });
}

/** Inserts the audit entries of conversations that were assigned and closed. */
function insertChanges(db: pg.PoolClient): Promise<void> {
  return withoutIndexes(db, 'audit_entries', () =>
    db.query(
      `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, actor_id, before, after, created_at)
       SELECT tenant_id, (left(id::text, 14) || '7' || change || right(id::text, 18))::uuid,
              'conversation.updated', 'conversation', id, 'agent', (SELECT id FROM agents a WHERE a.tenant_id = c.tenant_id LIMIT 1),
              CASE change WHEN '001' THEN '{"assignedAgentId": null}'::jsonb ELSE '{"status": "OPEN"}' END,
              CASE change WHEN '001' THEN jsonb_build_object('assignedAgentId', assigned_agent_id) ELSE '{"status": "CLOSED"}' END,
              created_at + interval '1 hour'
       FROM conversations c, unnest('{001,002}'::text[]) AS change
       WHERE tenant_id = ${TENANT} AND assigned_agent_id IS NOT NULL AND (status = 'CLOSED' OR change = '001')`,
    ),
  );
}

/** Returns the id of an open conversation with more messages than a page ever loads. */
export async function findLongConversation(pool: pg.Pool, workspaceId: string): Promise<string> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT id FROM conversations WHERE tenant_id = $1 AND status = 'OPEN' AND event_sequence >= $2 LIMIT 1`,
    [workspaceId, VERY_LONG],
  );
  return rows[0]!.id;
}

/** Begins sessions of the agents in turn, and returns their cookies. */
export async function beginSessions(pool: pg.Pool, agentIds: string[], count: number): Promise<string[]> {
  const tokens = Array.from({ length: count }, () => randomBytes(32).toString('base64url'));
  await pool.query('DELETE FROM login_sessions WHERE person_id = ANY ($1)', [agentIds]);
  await pool.query(
    `INSERT INTO login_sessions (id, person_id, hash, created_at, last_used_at, expires_at)
     SELECT gen_random_uuid(), ($1::uuid[])[1 + n % array_length($1::uuid[], 1)], hash, now(), now(), now() + interval '12 hours'
     FROM unnest($2::bytea[]) WITH ORDINALITY AS s (hash, n)`,
    [agentIds, tokens.map((token) => createHash('sha256').update(token).digest())],
  );
  return tokens.map((token) => `session=${token}`);
}
