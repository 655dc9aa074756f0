import { DAY_MS, EPOCH_MS, lowestId, STEP_MS } from './fixture.mjs';
import { HISTORY } from './history.mjs';
import { OLD_BODY, RATE_LIMIT } from './settings.mjs';

const SCOPES = [
  'conversations:read',
  'conversations:write',
  'messages:read',
  'messages:write',
  'contacts:read',
];

/**
 * Fills a migrated, empty database. For speed PostgreSQL makes the rows, secondary indexes are dropped meanwhile, and
 * foreign keys are not checked.
 *
 * @param {(path: string) => string} urlOf the URL of an endpoint
 */
export async function fill(pool, fixture, sizes, urlOf) {
  await withFillingClient(pool, (db) => insertFixture(db, fixture, urlOf));
  // In parallel: the search index takes about as long as everything else.
  await Promise.all([
    withFillingClient(pool, (db) => insertContacts(db, fixture, sizes)),
    withFillingClient(pool, async (db) => {
      await insertConversations(db, fixture, sizes);
      await insertMessages(db, fixture, sizes);
      await insertOldDeliveries(db, fixture, sizes);
    }),
  ]);
  await pool.query('VACUUM (ANALYZE)');
  await pool.query('CHECKPOINT');
}

/** The settings for mass inserts end with the connection. */
async function withFillingClient(pool, work) {
  const db = await pool.connect();
  try {
    await db.query(`
      SET session_replication_role = replica;
      SET synchronous_commit = off;
      SET maintenance_work_mem = '1GB';
      CREATE FUNCTION pg_temp.id_of(ms bigint, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE AS
        $$ SELECT (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid $$;
      CREATE FUNCTION pg_temp.at(ms bigint) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
        $$ SELECT timestamptz 'epoch' + ms * interval '1 millisecond' $$;
      CREATE FUNCTION pg_temp.pick(n bigint, seed bigint, choices text[]) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT choices[1 + (hashint8extended(n, seed) & 1048575) % array_length(choices, 1)] $$;`);
    await work(db);
  } finally {
    db.release(true);
  }
}

/** Drops the table's secondary indexes for `insert`, then restores them. */
async function withoutIndexes(db, table, insert) {
  const { rows } = await db.query(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
     WHERE i.indrelid = $1::regclass AND NOT i.indisunique`,
    [table],
  );
  for (const { name } of rows) await db.query(`DROP INDEX ${name}`);
  await insert();
  for (const { definition } of rows) await db.query(definition.replace(' ON ONLY ', ' ON '));
}

const column = (rows, name) => rows.map((row) => row[name]);

async function insertFixture(db, { measured, others, receiving, otherEndpoints }, urlOf) {
  await insertWorkspaces(db, [measured, ...others]);
  await insertApiKeys(db, [measured]);
  await insertEndpoints(db, otherEndpoints, urlOf);
  await insertReceiving(db, receiving, urlOf);
}

/** Adds workspaces that get webhooks to a filled database. */
export function addReceiving(pool, receiving, urlOf) {
  return withFillingClient(pool, (db) => insertReceiving(db, receiving, urlOf));
}

async function insertReceiving(db, receiving, urlOf) {
  await insertWorkspaces(db, receiving);
  await insertEndpoints(
    db,
    receiving.flatMap(({ endpoints }) => endpoints),
    urlOf,
  );
  await insertQuietConversations(db, receiving);
}

async function insertWorkspaces(db, workspaces) {
  await db.query(
    `INSERT INTO workspaces (id, name, slug, plan_tier, rate_limit, created_at, updated_at)
     SELECT id, name, name, 'PRO', $3, now(), now() FROM unnest($1::uuid[], $2::text[]) AS w (id, name)`,
    [column(workspaces, 'id'), column(workspaces, 'name'), RATE_LIMIT],
  );
  await db.query(
    `INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
     SELECT id, tenant_id, 'Ann', 'ann@example.com', 'OWNER', false, true, now(), now()
     FROM unnest($1::uuid[], $2::uuid[]) AS a (id, tenant_id)`,
    [column(workspaces, 'agentId'), column(workspaces, 'id')],
  );
}

/** @param {ReturnType<typeof import('./fixture.mjs').withApiKey<{ id: string }>>[]} workspaces */
export async function insertApiKeys(db, workspaces) {
  await db.query(
    `INSERT INTO api_keys (id, tenant_id, name, hash, first_chars, last_chars, scopes, created_at)
     SELECT id, tenant_id, 'bench', hash, 'plk_', 'xxxx', $4, now()
     FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) AS k (id, tenant_id, hash)`,
    [column(workspaces, 'apiKeyId'), column(workspaces, 'id'), column(workspaces, 'apiKeyHash'), SCOPES],
  );
}

async function insertEndpoints(db, endpoints, urlOf) {
  await db.query(
    `INSERT INTO webhook_endpoints
       (id, tenant_id, url, events, secret_key_id, secret_ciphertext, active, created_at, updated_at)
     SELECT id, tenant_id, url, '{message.created}', key_id, ciphertext, true, now(), now()
     FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bytea[])
       AS e (id, tenant_id, url, key_id, ciphertext)`,
    [
      column(endpoints, 'id'),
      column(endpoints, 'tenantId'),
      endpoints.map(({ path }) => urlOf(path)),
      endpoints.map(({ sealed }) => sealed.keyId),
      endpoints.map(({ sealed }) => sealed.ciphertext),
    ],
  );
}

async function insertQuietConversations(db, receiving) {
  const conversations = receiving.flatMap(({ id: tenantId, contactId, conversationIds }) =>
    conversationIds.map((id) => ({ id, tenantId, contactId })),
  );
  await db.query(
    `INSERT INTO contacts (tenant_id, id, name, created_at, updated_at)
     SELECT tenant_id, id, 'Zoe', now(), now() FROM unnest($1::uuid[], $2::uuid[]) AS c (tenant_id, id)`,
    [column(receiving, 'id'), column(receiving, 'contactId')],
  );
  await db.query(
    `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, created_at, updated_at)
     SELECT tenant_id, id, contact_id, 'WIDGET', 'OPEN', now(), now()
     FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS c (tenant_id, id, contact_id)`,
    [column(conversations, 'tenantId'), column(conversations, 'id'), column(conversations, 'contactId')],
  );
}

/** Every second row is the measured workspace's, so that its rows lie between those of the others. */
const TENANT = `($1::uuid[])[CASE WHEN n % 2 = 0 THEN 1 ELSE 2 + n / 2 % (array_length($1::uuid[], 1) - 1) END]`;
const MS = `${EPOCH_MS} + n::bigint * ${STEP_MS}`;

const tenantIds = ({ measured, others }) => [measured, ...others].map(({ id }) => id);

const FIRST_NAMES =
  `Ada Ben Chloé Dan Eva Filip Grace Hugo Ida José Kai Lena Max Nora Olga Paul Quinn Rosa Sven Tom
  Uma Vera Will Ximena Yara Zoë Иван Ольга Amélie Björn`.split(/\s+/);
const SYLLABLES = 'ba ker lin mo ra sen to vel wi za cho du fer gan hol jen kov mar nis pet'.split(' ');

function insertContacts(db, fixture, { conversations }) {
  return withoutIndexes(db, 'contacts', () =>
    db.query(
      `INSERT INTO contacts (tenant_id, id, name, email, phone, attributes, created_at, updated_at)
       SELECT ${TENANT}, pg_temp.id_of(${MS}, 0), first || ' ' || initcap(last),
              lower(first) || '.' || last || n || '@example.com', '+34 6' || lpad((n * 7919 % 100000000)::text, 8, '0'),
              '{"city": "Valencia"}', pg_temp.at(${MS}), pg_temp.at(${MS})
       FROM (SELECT n, pg_temp.pick(n, 1, $2) AS first,
                    pg_temp.pick(n, 2, $3) || pg_temp.pick(n, 3, $3) || pg_temp.pick(n, 4, $3) AS last
             FROM generate_series(1, $4::bigint) AS n) AS people`,
      [tenantIds(fixture), FIRST_NAMES, SYLLABLES, conversations],
    ),
  );
}

function insertConversations(db, fixture, { conversations }) {
  return withoutIndexes(db, 'conversations', () =>
    db.query(
      `INSERT INTO conversations (tenant_id, id, contact_id, source_channel, status, last_message_preview,
                                  last_message_at, created_at, updated_at)
       SELECT ${TENANT}, pg_temp.id_of(${MS}, 0), pg_temp.id_of(${MS}, 0),
              pg_temp.pick(n, 5, '{WIDGET,WHATSAPP,TELEGRAM,MESSENGER,INSTAGRAM}'),
              CASE WHEN n / 2 % 100 = 0 THEN 'SNOOZED' ELSE pg_temp.pick(n, 6, '{OPEN,CLOSED,CLOSED}') END,
              'Where is my parcel? It should have come on Tuesday.',
              pg_temp.at(${MS}), pg_temp.at(${MS}), pg_temp.at(${MS})
       FROM generate_series(1, $2::bigint) AS n`,
      [tenantIds(fixture), conversations],
    ),
  );
}

/** Every hundredth conversation is long. The mean is five messages. */
const LONG_EVERY = 100;
const LONG = 250;

async function insertMessages(db, fixture, { conversations }) {
  await db.query(
    `INSERT INTO messages (tenant_id, conversation_id, id, sender_type, sender_agent_id, body, delivery_status,
                           created_at)
     SELECT ${TENANT}, pg_temp.id_of(${MS}, 0), pg_temp.id_of(${MS} + m, m),
            CASE WHEN m % 2 = 0 THEN 'AGENT' ELSE 'CUSTOMER' END,
            CASE WHEN m % 2 = 0 THEN $3::uuid END,
            'Where is my parcel? It should have come on Tuesday, and it is number ' || m || ' of them.',
            CASE WHEN m % 2 = 0 THEN 'DELIVERED' END,
            pg_temp.at(${MS} + m)
     FROM generate_series(1, $2::bigint) AS n,
          generate_series(1, CASE WHEN n % ${LONG_EVERY} = 0 THEN ${LONG} ELSE 2 + n / 2 % 2 END) AS m`,
    [tenantIds(fixture), conversations, fixture.measured.agentId],
  );
}

/**
 * Adds events of the last hours to a workspace. They are in no queue.
 *
 * @param {boolean} arePending whether the workspace's endpoint is owed them
 */
export async function addEvents(pool, { id: tenantId, endpoint, conversationIds }, count, arePending) {
  await withFillingClient(pool, async (db) => {
    await db.query(
      `CREATE TEMP TABLE added AS
       SELECT n, ms, pg_temp.id_of(ms, n) AS id
       FROM (SELECT n, $1 + n * ${EVENTS_HOURS * HOUR_MS} / $2 AS ms FROM generate_series(1, $2::bigint) AS n) AS times`,
      [Date.now() - EVENTS_HOURS * HOUR_MS, count],
    );
    await db.query(
      `INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
       SELECT $1, id, 'message.created',
              format('{"conversationId":"%s","message":{"id":"%s","body":"%s","senderType":"AGENT","createdAt":"%s"}}',
                     $2::text, id, $3::text,
                     to_char(pg_temp.at(ms) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json,
              n, pg_temp.at(ms)
       FROM added`,
      [tenantId, conversationIds[0], OLD_BODY],
    );
    if (!arePending) return;
    await db.query(
      `INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round,
                                       attempt_count, recovered, next_attempt_at)
       SELECT $1, overlay(id::text PLACING '8' FROM 15)::uuid, $2, 1, id, 'message.created', 1, 0, false, now()
       FROM added`,
      [tenantId, endpoint.id],
    );
  });
  await pool.query('VACUUM (ANALYZE) events, pending_deliveries');
  await pool.query('CHECKPOINT');
}

const HOUR_MS = 60 * 60 * 1000;
/** The partitions of today and yesterday hold these events. */
const EVENTS_HOURS = 12;

/** Old deliveries happened from the first conversation until the day before yesterday. */
const OLD_DAYS = 18;

/** Half of them belong to the measured endpoints. */
async function insertOldDeliveries(db, { receiving, otherEndpoints }, { oldDeliveries }) {
  if (oldDeliveries === 0) return;
  for (const table of HISTORY) await makePartitions(db, table, EPOCH_MS, OLD_DAYS);
  const measured = receiving.map(({ endpoint }) => endpoint);
  const others = otherEndpoints.length > 0 ? otherEndpoints : measured;
  const parameters = [measured, others].flatMap((endpoints) => [
    endpoints.map(({ id }) => id),
    endpoints.map(({ tenantId }) => tenantId),
  ]);
  const owner = (measuredParameter, otherParameter) => `
    CASE WHEN n % 2 = 0 THEN (${measuredParameter}::uuid[])[1 + n / 2 % array_length(${measuredParameter}::uuid[], 1)]
         ELSE (${otherParameter}::uuid[])[1 + n / 2 % array_length(${otherParameter}::uuid[], 1)] END`;
  const ms = `${EPOCH_MS} + n * ${OLD_DAYS * DAY_MS} / ${oldDeliveries}`;
  await db.query(
    `CREATE TEMP TABLE old AS
     SELECT pg_temp.id_of(${ms}, n) AS id, ${owner('$1', '$3')} AS endpoint_id, ${owner('$2', '$4')} AS tenant_id,
            pg_temp.at(${ms}) AS at
     FROM generate_series(1, $5::bigint) AS n`,
    [...parameters, oldDeliveries],
  );
  const body = JSON.stringify({
    conversationId: receiving[0].conversationIds[0],
    message: { body: 'Hello' },
  });
  await withoutIndexes(db, 'events', () =>
    db.query(
      `INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
       SELECT tenant_id, id, 'message.created', $1, 1, at FROM old`,
      [body],
    ),
  );
  await withoutIndexes(db, 'webhook_deliveries', () =>
    db.query(
      `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
                                       finished_at, attempted_at, duration_ms, status_code, response)
       SELECT tenant_id, id, 1, endpoint_id, id, 'message.created', 'SUCCEEDED', 1, at, at, 12, 200, '' FROM old`,
    ),
  );
}

/** Makes the partitions of past days that the migration does not make. */
async function makePartitions(db, table, since, days) {
  const first = Math.floor(since / DAY_MS) * DAY_MS;
  for (let n = 0; n <= days; n++) {
    const [day, next] = [first + n * DAY_MS, first + (n + 1) * DAY_MS];
    const name = new Date(day).toISOString().slice(0, 10).replaceAll('-', '');
    await db.query(`
      CREATE TABLE IF NOT EXISTS ${table}_${name} PARTITION OF ${table}
      FOR VALUES FROM ('${lowestId(day)}') TO ('${lowestId(next)}')`);
  }
}
