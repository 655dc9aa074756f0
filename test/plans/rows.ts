import { Client } from 'pg';
import { CHANNELS } from '../../src/common/channel-descriptors';

export const ROWS = 100_000;
export const PAGE = 51;
/** Number of a workspace's newest contacts, at which each search looks first. */
export const NEWEST = 200;
/** Cost above which PostgreSQL compiles a statement, which takes longer than any search. */
export const JIT_ABOVE_COST = 100_000;
/** Number of contacts up to which a search's pages are compared with the result of a plain query. */
export const COMPARED = 400;
/**
 * Tenants of the rows: of 100,000 rows the first has 90 %, the second 9 %, the third 1 %, and the last a
 * handful.
 */
const TENANTS = [1, 2, 3, 4].map((n) => uuid(n));
export const [BIG, , , TINY] = TENANTS as [string, string, string, string];
export const CONVERSATION = sequential(2);
/** Id of the conversation of a visitor, who wrote half of its messages. */
export const VISITOR_CONVERSATION = sequential(5);
const VISITOR_MESSAGES = 20_000;
const AGENTS = 5_000;
export const ENDPOINTS = 20;
const EVENTS = 50_000;
const DELIVERED_EVENTS = 6_000;
const PENDING_EVENTS = 1_000;
/** Number of rows that one step of a search over all workspaces may read. */
export const STEP_ROWS = 1_000;
/** Number of rollups of each endpoint: eight days of five minutes. */
export const ROLLUPS = 2_304;
export const ROLLUPS_FROM = new Date('2026-11-01T00:00:00Z');

/** SQL expression for ids that rise with the row's number, as UUIDv7 do with time. */
const ID = `(lpad(to_hex(i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid`;
const TENANT = `(ARRAY['${TENANTS.join("','")}']::uuid[])
  [CASE WHEN i % 20000 = 0 THEN 4 WHEN i % 100 = 1 THEN 3 WHEN i % 11 = 0 THEN 2 ELSE 1 END]`;

export function uuid(n: number): string {
  return `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`;
}

export function endpoint(n: number): string {
  return uuid(100 + n);
}

/** Returns the id of the row with this number. */
export function sequential(i: number): string {
  const hex = i.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${hex}`;
}

/** Fills the tables over two connections at once, each with tables that do not wait for the other's. */
export async function fill(connectionString: string): Promise<void> {
  await run(connectionString, [
    `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at)
     SELECT id, 'Workspace', 'slug-' || n, 'PRO', now(), now()
     FROM unnest('{${TENANTS.join()}}'::uuid[]) WITH ORDINALITY w (id, n)`,
    `INSERT INTO agents (tenant_id, id, name, email, role, is_bot, active, created_at, updated_at)
     VALUES ('${BIG}', '${uuid(9)}', 'Ana', 'ana@example.com', 'OWNER', false, true, now(), now())`,
    OTHER_AGENTS,
    'ANALYZE agents',
    `INSERT INTO contacts (id, tenant_id, created_at, updated_at)
     SELECT id, id, now(), now() FROM workspaces`,
  ]);
  await Promise.all([
    run(connectionString, [CONTACTS, IDENTITIES, 'ANALYZE contacts, contact_identities', EVENTS_ROWS, AUDIT]),
    run(connectionString, [CONVERSATIONS, MESSAGES]),
  ]);
  // Statistics are misleading for queues, which fill and empty between two of them: here they show no queued
  // row.
  await run(connectionString, [
    'ANALYZE messages',
    ENDPOINT_ROWS,
    DELIVERIES,
    PENDING,
    EVENT_QUEUE,
    CONNECTIONS,
    VISITOR_MESSAGE_ROWS,
    PROVIDER_MESSAGES,
    'ANALYZE messages, provider_messages',
    QUEUED,
    OUTBOUND_MESSAGES,
    ROLLUP_ROWS,
  ]);
  await run(connectionString, [
    'ANALYZE conversations, events, audit_entries, webhook_endpoints, webhook_deliveries',
    'ANALYZE channel_connections, outbound_messages, attempt_rollups',
  ]);
}

export async function run(connectionString: string, sql: string[]): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    for (const statement of sql) await client.query(statement);
  } finally {
    await client.end();
  }
}

const CONTACTS = `
  INSERT INTO contacts (id, tenant_id, name, email, phone, search_text, created_at, updated_at)
  SELECT id, tenant_id, name, email, phone,
    lower(translate(name, 'ëÖöüё', 'eOouе')) || E'\\n' || email || E'\\n' || phone || E'\\n\\x01' || replace(phone, ' ', '')
      || E'\\n', now(), now()
  FROM (SELECT ${ID} AS id, ${TENANT} AS tenant_id,
    CASE WHEN i % 10007 = 3 THEN 'Zoë Quixada' ELSE
      (ARRAY['Ana','Ben','Cleo','Dora','Emil','Фёдор','Gül','Hana'])[1 + i % 8] || ' ' ||
      (ARRAY['Martin','Novak','Öztürk','Petrov','Rossi','Silva','Tanaka'])[1 + i % 7] END AS name,
    'person' || i || '@example.com' AS email, '+49 170 ' || lpad(i::text, 7, '0') AS phone
  FROM generate_series(1, ${ROWS}) i) AS people`;

const IDENTITIES = `
  INSERT INTO contact_identities
  SELECT tenant_id, 'WHATSAPP', id::text, id, now() FROM contacts WHERE tenant_id <> id LIMIT 20000`;

/**
 * SQL that inserts conversations, each with its tenant's one contact, so that contacts can be inserted at the
 * same time. Every second one was changed after its newest message.
 */
const CONVERSATIONS = `
  INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, snoozed_until, last_message_preview,
    last_message_at, created_at, updated_at)
  SELECT t, ${ID}, t, (ARRAY['${CHANNELS.join("','")}'])[CASE WHEN h < 60 THEN 1 WHEN h < 90 THEN 2 ELSE 3 + h % 3 END],
    CASE WHEN g < 90 THEN 'CLOSED' WHEN g < 99 THEN 'OPEN' ELSE 'SNOOZED' END,
    CASE WHEN g = 99 THEN now() - i * interval '1 second' END, 'Preview', now(), now(), now() + (i % 2) * interval '30 minutes'
  FROM generate_series(1, ${ROWS}) i,
    LATERAL (SELECT ${TENANT} AS t, (i * 7919::bigint / 13) % 100 AS h, (i * 104729::bigint / 17) % 100 AS g) x`;

const MESSAGES = `
  INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
  SELECT '${BIG}', '${CONVERSATION}', ${ID}, 'AGENT', '${uuid(9)}', 'Message ' || i, 'SENT', now()
  FROM generate_series(1, ${ROWS}) i`;

/**
 * SQL of open conversations of an agent and of nobody, each with a customer's message: the newest 280 of
 * each were read.
 */
export const UNREAD = [
  `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, assigned_agent_id, last_message_id,
     created_at, updated_at)
   SELECT '${BIG}', gen_random_uuid(), '${BIG}', 'TELEGRAM', 'OPEN', CASE WHEN i % 2 = 0 THEN '${uuid(9)}'::uuid END,
     ('ffffffff-0000-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid, now(), now()
   FROM generate_series(1, 20000) i`,
  `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, body, created_at)
   SELECT tenant_id, id, last_message_id, 'CUSTOMER', 'Hello?', now() FROM conversations
   WHERE tenant_id = '${BIG}' AND last_message_id >= 'ffffffff-0000-7000-8000-000000000000'`,
  `INSERT INTO read_marks (tenant_id, agent_id, conversation_id, message_id, is_unread)
   SELECT tenant_id, '${uuid(9)}', id, last_message_id, false FROM conversations
   WHERE tenant_id = '${BIG}' AND last_message_id > 'ffffffff-0000-7000-8000-000000004bf0'`,
  `INSERT INTO read_marks (tenant_id, agent_id, conversation_id, message_id, is_unread)
   SELECT '${BIG}', a.id, c.id, c.id, false
   FROM (SELECT id FROM agents WHERE tenant_id = '${BIG}' AND role = 'AGENT' ORDER BY id DESC LIMIT 1000) a,
     (SELECT id FROM conversations WHERE tenant_id = '${BIG}' ORDER BY id LIMIT 100) c`,
  'ANALYZE conversations, messages, read_marks',
];

/** Number of conversations with lost replies: more than are counted. */
export const LOST_CONVERSATIONS = 3_000;

/** SQL that adds lost replies to conversations, as many again to one, and as many that are dismissed. */
export const LOST = [
  `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at,
     dismissed_at)
   SELECT '${BIG}', c.id, gen_random_uuid(), 'AGENT', '${uuid(9)}', 'Lost', 'FAILED', now(), d.at
   FROM (SELECT id FROM conversations WHERE tenant_id = '${BIG}' ORDER BY id LIMIT ${LOST_CONVERSATIONS}) AS c,
     unnest(ARRAY[NULL, now()]) AS d (at)`,
  `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
   SELECT '${BIG}', '${CONVERSATION}', gen_random_uuid(), 'AGENT', '${uuid(9)}', 'Lost', 'UNKNOWN', now()
   FROM generate_series(1, ${LOST_CONVERSATIONS})`,
];

/** SQL that lets the customers of nearly all open conversations wait. */
export const WAITING = `
  UPDATE conversations SET waiting_message_id = coalesce(last_message_id, id)
  WHERE status = 'OPEN' AND source_channel <> 'INSTAGRAM'`;

/**
 * SQL that lets customers of the newest conversations wait, of an agent and of nobody, and assigns some of
 * them. All agents of the workspace have chosen notices, and as many notices as an agent may have.
 */
export const NOTICES = [
  `UPDATE conversations SET waiting_message_id = last_message_id
   WHERE tenant_id = '${BIG}' AND last_message_id >= 'ffffffff-0000-7000-8000-000000000000'`,
  `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, after, metadata, created_at)
   SELECT tenant_id, last_message_id, 'conversation.assigned', 'conversation', id, 'system',
     json_build_object('assignedAgentId', assigned_agent_id), '{}', now()
   FROM conversations
   WHERE tenant_id = '${BIG}' AND last_message_id >= 'ffffffff-0000-7000-8000-000000001000'
     AND assigned_agent_id IS NOT NULL`,
  `INSERT INTO agent_notice_choices (tenant_id, agent_id, mail_matters, mail_after_minutes, push_matters,
     push_after_minutes, updated_at)
   SELECT tenant_id, id, '{MINE,NOBODYS,ASSIGNMENT}', 15, '{}', 0, now() FROM agents WHERE tenant_id = '${BIG}'`,
  `INSERT INTO agent_notices (tenant_id, id, agent_id, way, conversation_id, matter, subject_id, due_at, created_at)
   SELECT '${BIG}', gen_random_uuid(), a.id, 'MAIL', c.id, 'MINE', c.id, now(), now()
   FROM (SELECT id FROM agents WHERE tenant_id = '${BIG}' ORDER BY id LIMIT 500) a,
     (SELECT id FROM conversations WHERE tenant_id = '${BIG}' ORDER BY id LIMIT 200) c`,
  'ANALYZE conversations, audit_entries, agent_notice_choices, agent_notices',
];

/** Agent with as many drafts as an agent may have. */
export const WRITER = sequential(1);
const WRITER_DRAFTS = 200;

/**
 * SQL of what agents write for themselves: notes, half of them in one conversation; drafts, one of each agent
 * in that conversation, and as many as there may be of one agent; saved replies, more than a workspace may
 * have.
 */
export const AGENTS_TEXTS = [
  `INSERT INTO notes (tenant_id, id, conversation_id, author_agent_id, body, created_at)
   SELECT '${BIG}', ${ID}, CASE WHEN i % 2 = 0 THEN '${CONVERSATION}' ELSE c.id END, '${uuid(9)}', 'Ask Ana.', now()
   FROM (SELECT row_number() OVER () AS i, id FROM conversations WHERE tenant_id = '${BIG}' LIMIT 50000) AS c`,
  `INSERT INTO drafts (tenant_id, agent_id, conversation_id, body, updated_at)
   SELECT tenant_id, id, '${CONVERSATION}', 'Dear', now() FROM agents
   WHERE tenant_id = '${BIG}' AND role = 'AGENT'`,
  `INSERT INTO drafts (tenant_id, agent_id, conversation_id, body, updated_at)
   SELECT '${BIG}', '${WRITER}', id, 'Dear', now() FROM conversations
   WHERE tenant_id = '${BIG}' AND id <> '${CONVERSATION}' LIMIT ${WRITER_DRAFTS}`,
  `INSERT INTO drafts (tenant_id, agent_id, conversation_id, body, updated_at)
   SELECT '${BIG}', a.id, c.id, 'Dear', now()
   FROM (SELECT id FROM agents WHERE tenant_id = '${BIG}' AND role = 'AGENT' ORDER BY id DESC LIMIT 1000) a,
     (SELECT id FROM conversations WHERE tenant_id = '${BIG}' ORDER BY id DESC LIMIT 50) c`,
  `INSERT INTO saved_replies (tenant_id, id, name, body, created_at, updated_at)
   SELECT ${TENANT}, ${ID}, 'Reply ' || i, 'Thank you.', now(), now() FROM generate_series(1, 40000) i`,
  // ANALYZE reads all rows, and so surely those of the smallest workspace.
  'ALTER TABLE saved_replies ALTER tenant_id SET STATISTICS 200',
  'ANALYZE notes, drafts, saved_replies',
];

const OTHER_AGENTS = `
  INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
  SELECT ${ID}, '${BIG}', 'Agent', i || '@example.com', 'AGENT', false, true, now(), now()
  FROM generate_series(1, ${AGENTS}) i`;

const VISITOR_MESSAGE_ROWS = `
  INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
  SELECT '${BIG}', '${VISITOR_CONVERSATION}', (lpad(to_hex(i * 5), 12, '0') || '70008000' || lpad(to_hex(i * 5), 12, '0'))::uuid, CASE WHEN i % 2 = 0 THEN 'CUSTOMER' ELSE 'AGENT' END,
    CASE WHEN i % 2 = 1 THEN '${uuid(9)}'::uuid END, 'Message ' || i, CASE WHEN i % 2 = 1 THEN 'SENT' END, now()
  FROM generate_series(1, ${VISITOR_MESSAGES}) i`;

const PROVIDER_MESSAGES = `
  INSERT INTO provider_messages (tenant_id, connection_id, provider_id, conversation_id, message_id, created_at)
  SELECT tenant_id, '${uuid(501)}', 'visitor:x ' || id, conversation_id, id, now() FROM messages
  WHERE tenant_id = '${BIG}' AND conversation_id = '${VISITOR_CONVERSATION}' AND sender_type = 'CUSTOMER'`;

/**
 * SQL that inserts people: agents of the same workspace, each with a session and all other rows of a person.
 */
export const PEOPLE = [
  `INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
   SELECT ${ID}, '${BIG}', 'Ana', 'p' || i || '@example.com', 'AGENT', false, true, now(), now()
   FROM generate_series(1, ${ROWS}) i ON CONFLICT (tenant_id, id) DO NOTHING`,
  `INSERT INTO people (id, email, name, theme, password_hash, created_at)
   SELECT ${ID}, 'p' || i || '@example.com', 'Ana', 'auto', 'x', now() FROM generate_series(1, ${ROWS}) i`,
  `INSERT INTO memberships (tenant_id, agent_id, person_id, created_at)
   SELECT '${BIG}', ${ID}, ${ID}, now() FROM generate_series(1, ${ROWS}) i`,
  `INSERT INTO login_sessions (id, person_id, hash, created_at, last_used_at, expires_at)
   SELECT ${ID}, ${ID}, sha256(convert_to('session ' || i, 'UTF8')), now(), now(), now() + interval '1 hour'
   FROM generate_series(1, ${ROWS}) i`,
  `INSERT INTO known_browsers (id, person_id, hash, expires_at)
   SELECT id, person_id, hash, expires_at FROM login_sessions`,
  `INSERT INTO pending_logins (hash, person_id, attempt_count, expires_at)
   SELECT hash, person_id, 0, expires_at FROM login_sessions`,
  `INSERT INTO password_resets (hash, person_id, expires_at) SELECT hash, person_id, expires_at FROM login_sessions`,
  `INSERT INTO second_factors (person_id, secret_key_id, secret_ciphertext, confirmed_at)
   SELECT id, 'test', '\\x00', now() FROM people`,
  `INSERT INTO push_addresses (session_id, person_id, endpoint_hash, address_key_id, address_ciphertext, created_at)
   SELECT id, person_id, hash, 'test', '\\x00', now() FROM login_sessions`,
  `INSERT INTO invitations (tenant_id, id, agent_id, hash, created_at, expires_at)
   SELECT '${BIG}', id, person_id, hash, now(), expires_at FROM login_sessions`,
  `ANALYZE agents, people, memberships, login_sessions, known_browsers, pending_logins, password_resets,
     second_factors, push_addresses, invitations`,
];

const EVENTS_ROWS = `
  INSERT INTO events (tenant_id, id, type, data, created_at)
  SELECT '${BIG}', ${ID}, 'message.created',
    json_build_object('conversationId', CASE WHEN i % 10 = 0 THEN '${CONVERSATION}' ELSE i::text END), now()
  FROM generate_series(1, ${EVENTS}) i`;

const EVENT_QUEUE = `
  INSERT INTO event_queue (tenant_id, event_id)
  SELECT '${BIG}', ${ID} FROM generate_series(${EVENTS - 5_000}, ${EVENTS}) i`;

const AUDIT = `
  INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, actor_id, actor_name, metadata,
    created_at)
  SELECT ${TENANT}, ${ID}, 'a' || i % 20, 'e' || i % 10, i % 50,
    (ARRAY['agent', 'operator', 'system'])[1 + i % 3],
    CASE WHEN i % 3 = 0 THEN ('00000000-0000-7000-8000-' || lpad((i % 20)::text, 12, '0'))::uuid END,
    CASE WHEN i % 3 = 1 THEN 'o' || i % 20 END, '{}', now()
  FROM generate_series(1, 20000) i`;

const ENDPOINT_ROWS = `
  INSERT INTO webhook_endpoints (id, tenant_id, url, events, secret_key_id, secret_ciphertext, active, created_at,
    updated_at)
  SELECT ('00000000-0000-7000-8000-' || lpad((100 + n)::text, 12, '0'))::uuid, '${BIG}', 'https://example.com', '{*}',
    'test', '\\x00', true, now(), now()
  FROM generate_series(1, ${ENDPOINTS}) n`;

const DELIVERY = `
  SELECT (lpad(to_hex(e), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid AS id,
    ('00000000-0000-7000-8000-' || lpad((101 + i % ${ENDPOINTS})::text, 12, '0'))::uuid AS endpoint_id,
    (lpad(to_hex(e), 12, '0') || '70008000' || lpad(to_hex(e), 12, '0'))::uuid AS event_id, e - 1 AS n
  FROM generate_series(0, ${DELIVERED_EVENTS * ENDPOINTS - 1}) i, LATERAL (SELECT 1 + i / ${ENDPOINTS} AS e) x`;

/**
 * SQL that inserts deliveries: for each endpoint those of the first events are finished, and many of the last
 * ones still wait.
 */
const DELIVERIES = `
  INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
    finished_at, status_code, error)
  SELECT '${BIG}', id, 1, endpoint_id, event_id, 'message.created',
    CASE WHEN n % 25 > 0 THEN 'SUCCEEDED' WHEN n % 50 = 0 THEN 'EXHAUSTED' ELSE 'CANCELLED' END, 1, now(),
    CASE WHEN n % 25 > 0 THEN 200 WHEN n % 75 = 0 THEN 404 WHEN n % 75 = 25 THEN 500 END,
    CASE WHEN n % 25 > 0 THEN NULL WHEN n % 75 < 50 THEN 'status' ELSE 'timeout' END
  FROM (${DELIVERY}) AS d
  WHERE n < ${DELIVERED_EVENTS - PENDING_EVENTS}`;

const PENDING = `
  INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count,
    recovered, next_attempt_at)
  SELECT '${BIG}', id, endpoint_id, 1, event_id, 'message.created', 1, n % 2, false, now() - n * interval '1 millisecond'
  FROM (${DELIVERY}) AS d WHERE n >= ${DELIVERED_EVENTS - PENDING_EVENTS}`;

const ROLLUP_ROWS = `
  INSERT INTO attempt_rollups (tenant_id, endpoint_id, starts_at, outcomes, durations)
  SELECT '${BIG}', e.id, '${ROLLUPS_FROM.toISOString()}'::timestamptz + n * interval '5 minutes', '{10,1}', '{0,0,5,6}'
  FROM webhook_endpoints e, generate_series(0, ${ROLLUPS - 1}) n`;

/** SQL that inserts a connection for each channel. */
const CONNECTIONS = `
  INSERT INTO channel_connections
  SELECT '${BIG}', ('00000000-0000-7000-8000-' || lpad((500 + n)::text, 12, '0'))::uuid, channel, n::text, n::text,
    '{}', 'test', '\\x00', NULL, 'ACTIVE', NULL, now(), now()
  FROM unnest('{${CHANNELS.join()}}'::text[]) WITH ORDINALITY AS c (channel, n)`;

/** SQL that queues five messages in each of many conversations, including the one with the long history. */
const QUEUED = `
  INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status, created_at)
  SELECT '${BIG}', c.id, (lpad(to_hex(${ROWS} + n * 5 + k), 12, '0') || '700080000000' || lpad(to_hex(k), 8, '0'))::uuid,
    'AGENT', '${uuid(9)}', 'Queued', 'QUEUED', now()
  FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM conversations WHERE tenant_id = '${BIG}' LIMIT 4000) c,
    generate_series(1, 5) k`;

/** SQL that inserts outbound messages. Those of one conversation use the same one of the connections. */
const OUTBOUND_MESSAGES = `
  INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at, waits)
  SELECT tenant_id, conversation_id, id,
    ('00000000-0000-7000-8000-' || lpad((501 + dense_rank() OVER (ORDER BY conversation_id) % 5)::text, 12, '0'))::uuid,
    now() - interval '1 hour' + row_number() OVER (ORDER BY id) * interval '1 millisecond',
    row_number() OVER (PARTITION BY conversation_id ORDER BY id) > 1
  FROM messages WHERE delivery_status = 'QUEUED'`;
