import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { Config } from '../../src/config/config';
import { connectionOptions } from '../../src/database/data-source';
import { areMigrationsApplied } from '../../src/database/setup/migration-state';
import { migrate } from '../../src/database/setup/migrator';
import { newId } from '../../src/common/ids';
import { TestService } from '../support/service';
import { createStores, dropStores, isOnCitus, ownerOf, TestStores } from '../support/test-database';

interface ForeignKey {
  name: string;
  table: string;
  target: string;
  /** Referring columns, and the columns that they refer to, in the same order. */
  columns: string[];
  targetColumns: string[];
}

const FOREIGN_KEYS = `
  SELECT conname AS name, conrelid::regclass::text AS table, confrelid::regclass::text AS target,
    (SELECT array_agg(attname::text ORDER BY n) FROM unnest(conkey) WITH ORDINALITY k (attnum, n)
       JOIN pg_attribute a ON a.attrelid = conrelid AND a.attnum = k.attnum) AS columns,
    (SELECT array_agg(attname::text ORDER BY n) FROM unnest(confkey) WITH ORDINALITY k (attnum, n)
       JOIN pg_attribute a ON a.attrelid = confrelid AND a.attnum = k.attnum) AS "targetColumns"
  FROM pg_constraint WHERE contype = 'f' AND connamespace = 'public'::regnamespace
  ORDER BY conrelid::regclass::text, conname`;

/** Tables of people, who may be agents of several tenants: `memberships` has the tenants. */
const OF_PEOPLE = [
  'people',
  'login_sessions',
  'pending_logins',
  'known_browsers',
  'password_resets',
  'push_addresses',
  'second_factors',
  'recovery_codes',
];
/** Tables that tell the tenant of a value that a request brings without it. The value is their key. */
const LOOK_UPS = [
  'api_key_hashes',
  'connected_accounts',
  'hook_keys',
  'person_workspaces',
  'workspace_slugs',
];
/**
 * Tables that belong to no tenant: the tenants themselves, the list of migrations, the mark of the store of
 * files, look-ups and people.
 */
const SHARED = ['workspaces', 'migrations', 'file_stores', ...LOOK_UPS, ...OF_PEOPLE];

/**
 * Tables written for every event, delivery and message. A foreign key would cost a lock of its parent for
 * each row, and protect nothing: the transaction that writes such a row reads or locks its parent, and no
 * parent is deleted before it. The floors of the queues are saved for many workspaces at once: one that is
 * deleted meanwhile must not fail the others.
 */
const WITHOUT_REFERENCES = [
  'attempt_rollups',
  'automatic_recoveries',
  'event_queue',
  'events',
  'message_search',
  'parked_events',
  'pending_cancellations',
  'pending_deliveries',
  'queue_floors',
  'recovery_outcomes',
  'webhook_attempts',
  'webhook_deliveries',
];

/**
 * Keys of tenants' tables that do not begin with the tenant, each with the reason. On several nodes there is
 * none of them.
 */
const KEYS_ACROSS_WORKSPACES: Record<string, string> = {
  api_keys_hash_key: 'processes of an older version look a key up by it',
  channel_connections_account_key: 'processes of an older version look an account up by it',
  channel_connections_hook_key_key: 'processes of an older version look a hook key up by it',
  memberships_person_id_fkey: 'no person is deleted whom an older version makes a member',
};

const FOREIGN_KEY_VIOLATION = '23503';
const NOT_SUPPORTED = '0A000';

/** Name of a shard, which Citus makes of a table. */
const SHARD = /_\d{6}$/;

/**
 * Reports whether a constraint has this name, or is that of a shard, which has a number, and whose name is
 * cut if it would be too long.
 */
function isNameOf(constraint: string, name: string): boolean {
  const ofShard = constraint.replace(SHARD, '');
  const [, cut] = /^(.+)_[0-9a-f]{8}$/.exec(ofShard) ?? [];
  return ofShard === name || (ofShard !== constraint && cut !== undefined && name.startsWith(cut));
}

/** Returns the SQLSTATE of a row's change of tenant. Citus refuses it, whatever refers to the row. */
function codeOfMove(): string {
  return isOnCitus() ? NOT_SUPPORTED : FOREIGN_KEY_VIOLATION;
}

describe('tenancy in the database', () => {
  let service: TestService;
  let foreignKeys: ForeignKey[];
  let tables: string[];
  let tenant: string;
  let other: string;

  beforeAll(async () => {
    service = await TestService.create();
    const all = await service.query<ForeignKey>(FOREIGN_KEYS);
    foreignKeys = all.filter(({ table, target }) => !OF_PEOPLE.includes(target) && !SHARD.test(table));
    const rows = await service.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace`,
    );
    tables = rows.map(({ name }) => name).filter((name) => !SHARED.includes(name));
    [tenant, other] = [await furnish(service), await furnish(service)];
  });
  afterAll(() => service.close());

  it('marks every row of every table with its tenant', async () => {
    const columns = await service.query(
      `SELECT table_name AS name, data_type AS type, is_nullable AS nullable FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name = 'tenant_id' AND table_name = ANY ($1)`,
      [tables],
    );
    expect(columns).toHaveLength(tables.length);
    expect(columns).toEqual(
      expect.arrayContaining(tables.map((name) => ({ name, type: 'uuid', nullable: 'NO' }))),
    );
  });

  it('has the tenant first in every key, unique index and foreign key', async () => {
    const keys = await service.query<{ name: string }>(
      `SELECT i.indexrelid::regclass::text AS name, a.attname AS first
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
       LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
       WHERE i.indisunique AND t.relname = ANY ($1) AND a.attname IS DISTINCT FROM 'tenant_id'
       UNION ALL
       SELECT conname, a.attname FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1]
       WHERE c.contype = 'f' AND t.relname = ANY ($1) AND a.attname <> 'tenant_id'
       ORDER BY name`,
      [tables],
    );
    expect(keys.map(({ name }) => name)).toEqual(isOnCitus() ? [] : Object.keys(KEYS_ACROSS_WORKSPACES));
  });

  it('ties every row to a workspace, itself or through what it refers to', () => {
    for (const table of tables.filter((name) => !WITHOUT_REFERENCES.includes(name))) {
      const targets = foreignKeys.filter((key) => key.table === table && key.columns.includes('tenant_id'));
      expect({ table, targets: targets.map(({ target }) => target) }).toEqual({
        table,
        targets: expect.arrayContaining([expect.any(String)]),
      });
    }
  });

  it('has the tenant on both sides of every reference', () => {
    for (const { name, target, columns, targetColumns } of foreignKeys) {
      const pairs = columns.map((column, i) => `${column}=${targetColumns[i]}`);
      expect({ name, pairs }).toEqual({
        name,
        pairs: expect.arrayContaining([target === 'workspaces' ? 'tenant_id=id' : 'tenant_id=tenant_id']),
      });
    }
  });

  it('refuses every reference to another tenant’s row', async () => {
    const composite = foreignKeys.filter(({ target }) => target !== 'workspaces');
    expect(composite.length).toBeGreaterThanOrEqual(9);
    for (const { name, table, target, columns, targetColumns } of composite) {
      const [column] = columns.filter((candidate) => candidate !== 'tenant_id');
      const [targetColumn] = targetColumns.filter((candidate) => candidate !== 'tenant_id');
      const pointAt = (owner: string) =>
        service.query(
          `UPDATE ${table} SET ${column} = (SELECT ${targetColumn} FROM ${target} WHERE tenant_id = $2 LIMIT 1)
           WHERE tenant_id = $1 AND ${column} IS NOT NULL RETURNING 1`,
          [tenant, owner],
        );
      expect({ name, rows: await pointAt(tenant) }).toEqual({
        name,
        rows: expect.arrayContaining([expect.anything()]),
      });
      const error = await faultOf(pointAt(other));
      expect(error?.code).toBe(FOREIGN_KEY_VIOLATION);
      // A row that refers to the deleted one may fail first.
      const referring = foreignKeys.filter((key) => key.target === table).map((key) => key.name);
      const [, violated] = /constraint "(.+?)"/.exec(error!.message) ?? [];
      expect([name, ...referring].some((one) => isNameOf(violated!, one))).toBe(true);
    }
  });

  it('lets no row change its tenant under what refers to it', async () => {
    const referredTo = new Set(
      foreignKeys.map(({ target }) => target).filter((name) => name !== 'workspaces'),
    );
    for (const table of referredTo) {
      const moved = service.query(`UPDATE ${table} SET tenant_id = $2 WHERE tenant_id = $1`, [tenant, other]);
      await expect(moved).rejects.toMatchObject({ driverError: { code: codeOfMove() } });
    }
  });

  it('knows no tenant that does not exist', async () => {
    for (const { name, table } of foreignKeys.filter(({ target }) => target === 'workspaces')) {
      const moved = service.query(`UPDATE ${table} SET tenant_id = $2 WHERE tenant_id = $1`, [
        tenant,
        newId(),
      ]);
      expect({ name, code: (await faultOf(moved))?.code }).toEqual({ name, code: codeOfMove() });
    }
  });
});

describe('migrations', () => {
  let stores: TestStores;
  let database: Client;
  let config: Config;

  beforeAll(async () => {
    stores = await createStores();
    database = new Client({ connectionString: stores.databaseUrl });
    await database.connect();
    config = Config.from({
      DATABASE_URL: stores.databaseUrl,
      ...ownerOf(stores),
      REDIS_URL: stores.redisUrl,
      SECRETS_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
    });
  });
  afterAll(async () => {
    await database.end();
    await dropStores(stores);
  });

  it('go down one by one until nothing is left, and up again to the same schema', async () => {
    const before = await schemaOf(database);
    const undone: string[] = [];
    for (let names = await migrate(config, 'down'); names.length > 0; names = await migrate(config, 'down')) {
      undone.push(...names);
    }

    expect(undone.length).toBeGreaterThanOrEqual(4);
    expect((await schemaOf(database)).filter((line) => !line.includes('migrations'))).toEqual([]);
    expect(await migrate(config, 'up')).toEqual(undone.reverse());
    expect(await schemaOf(database)).toEqual(before);
    expect(await migrate(config, 'up')).toEqual([]);
  });

  it('are applied once by two that start together', async () => {
    const undone = await migrate(config, 'down');
    const applied = await Promise.all([migrate(config, 'up'), migrate(config, 'up')]);
    expect(applied.flat()).toEqual(undone);
  });

  it.each([
    ['applied', 'all of them', {}, true],
    ['not applied', 'none to compare with', { migrations: [] }, false],
  ])('are %s to a process that finds %s', async (_, _found, options, areApplied) => {
    const dataSource = new DataSource({ ...connectionOptions(config), ...options });
    await dataSource.initialize();
    expect(await areMigrationsApplied(dataSource)).toBe(areApplied);
    await dataSource.destroy();
  });
});

async function faultOf(work: Promise<unknown>): Promise<{ code?: string; message: string } | undefined> {
  return work.then(
    () => undefined,
    (error: { driverError?: { code?: string; message: string } }) => error.driverError,
  );
}

/** Makes a workspace with a row in every table that refers to others. */
async function furnish(service: TestService): Promise<string> {
  const { make } = service;
  const workspace = await make.workspace();
  const { id: tenantId } = workspace;
  const agent = await make.agent(workspace);
  await make.apiKey(workspace);
  await service.query('UPDATE api_keys SET created_by = $2 WHERE tenant_id = $1', [tenantId, agent.id]);
  await service.query(
    `WITH person AS (
       INSERT INTO people (id, email, name, theme, password_hash, created_at)
       VALUES (gen_random_uuid(), $3, 'Ana', 'auto', 'x', now()) RETURNING id
     ), membership AS (
       INSERT INTO memberships (tenant_id, agent_id, person_id, created_at) SELECT $1, $2, id, now() FROM person
     )
     INSERT INTO invitations (tenant_id, id, agent_id, hash, created_at, expires_at)
     VALUES ($1, gen_random_uuid(), $2, '\\x00', now(), now())`,
    [tenantId, agent.id, agent.email],
  );
  await service.query('INSERT INTO second_factor_demands VALUES ($1, 7, now())', [tenantId]);
  const conversation = await make.conversation(workspace);
  await service.query(`INSERT INTO contact_identities VALUES ($1, 'WHATSAPP', '4917612345678', $2, now())`, [
    tenantId,
    conversation.contact.id,
  ]);
  await make.updateConversation(workspace, conversation, { assignedAgentId: agent.id });
  const message = await make.sent(workspace, conversation);
  await service.query(`INSERT INTO drafts VALUES ($1, $2, $3, 'Dear', now())`, [
    tenantId,
    agent.id,
    conversation.id,
  ]);
  await service.query(
    `INSERT INTO saved_replies VALUES ($1, gen_random_uuid(), 'Thanks', 'Hi', now(), now())`,
    [tenantId],
  );
  await service.query(`INSERT INTO notes VALUES ($1, gen_random_uuid(), $2, $3, 'Ask Ana.', now())`, [
    tenantId,
    conversation.id,
    agent.id,
  ]);
  await service.query(
    `INSERT INTO message_search_progress (tenant_id, first_id, indexed_until, stage, position_conversation,
       position_message)
     VALUES ($1, $2, $2, 'DONE', $2, $2) ON CONFLICT (tenant_id) DO NOTHING`,
    [tenantId, message.id],
  );
  await service.query('INSERT INTO alert_mailboxes (tenant_id, agent_id) VALUES ($1, $2)', [
    tenantId,
    agent.id,
  ]);
  await service.query('INSERT INTO read_marks VALUES ($1, $2, $3, $4, false)', [
    tenantId,
    agent.id,
    conversation.id,
    message.id,
  ]);
  await service.query('INSERT INTO workspace_deletions VALUES ($1, now(), now(), false)', [tenantId]);
  await service.query(
    `INSERT INTO idempotency_keys (tenant_id, key, fingerprint, created_at) VALUES ($1, 'k', '\\x00', now())`,
    [tenantId],
  );
  await service.query(
    `INSERT INTO contact_erasures (tenant_id, id, contact_id, status, cursor_conversation_id, cursor_message_id, due_at, created_at,
       finished_at)
     VALUES ($1, gen_random_uuid(), $2, 'COMPLETED', $2, $2, now(), now(), now())`,
    [tenantId, conversation.contact.id],
  );
  await service.query(
    `WITH endpoint AS (
       INSERT INTO webhook_endpoints (tenant_id, id, url, events, secret_key_id, secret_ciphertext, active, created_at,
         updated_at)
       VALUES ($1, gen_random_uuid(), 'https://example.com', '{*}', 'k', '\\x00', true, now(), now()) RETURNING id
     )
     INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, since, until, status, total, cursor, created_at,
       finished_at)
     SELECT $1, gen_random_uuid(), id, now(), now(), 'COMPLETED', 0, id, now(), now() FROM endpoint`,
    [tenantId],
  );
  await service.query(
    `WITH connection AS (
       INSERT INTO channel_connections
       VALUES ($1, gen_random_uuid(), 'TELEGRAM', '7', gen_random_uuid(), '{}', 'k', '\\x00', NULL, 'DISCONNECTED',
               NULL, now(), now()) RETURNING id
     ), dispatch AS (
       INSERT INTO outbound_messages (tenant_id, conversation_id, message_id, connection_id, next_attempt_at)
       SELECT $1, $2, $3, id, now() FROM connection
     ), known AS (
       INSERT INTO provider_messages (tenant_id, conversation_id, message_id, connection_id, provider_id, created_at)
       SELECT $1, $2, $3, id, gen_random_uuid(), now() FROM connection
     ), unsent AS (
       INSERT INTO unsent_messages (tenant_id, conversation_id, message_id, cursor, due_at)
       VALUES ($1, $2, $3, $3, now() + interval '1 day')
     ), changed AS (
       INSERT INTO early_changes (tenant_id, connection_id, provider_id, created_at)
       SELECT $1, id, gen_random_uuid(), now() FROM connection
     )
     INSERT INTO early_receipts (tenant_id, connection_id, provider_id, status, created_at)
     SELECT $1, id, gen_random_uuid(), 'READ', now() FROM connection`,
    [tenantId, conversation.id, message.id],
  );
  await service.query(
    `INSERT INTO alerts (tenant_id, id, kind, subject_id, opened_at) VALUES ($1, gen_random_uuid(), 'TRIAL_ENDING', $1, now())`,
    [tenantId],
  );
  await service.query('INSERT INTO file_usage VALUES ($1, 7)', [tenantId]);
  await service.query(
    `INSERT INTO files (tenant_id, id, name, size, created_at) VALUES ($1, $2, 'a.txt', 7, now())`,
    [tenantId, message.id],
  );
  await service.query(
    `INSERT INTO attachments (tenant_id, id, conversation_id, message_id, position, file_id, kind, state, created_at)
     VALUES ($1, gen_random_uuid(), $2, $3, 0, $3, 'FILE', 'READY', now())`,
    [tenantId, conversation.id, message.id],
  );
  await service.query(
    `INSERT INTO message_parts (tenant_id, conversation_id, message_id, position, id, content, status, attempt_count,
       created_at)
     VALUES ($1, $2, $3, 0, gen_random_uuid(), 'TEXT', 'QUEUED', 0, now())`,
    [tenantId, conversation.id, message.id],
  );
  await service.query(
    `WITH fetched AS (
       INSERT INTO attachment_fetches (tenant_id, id, connection_id, reference_key_id, reference_ciphertext, created_at)
       SELECT $1, gen_random_uuid(), id, 'k', '\\x00', now() FROM channel_connections WHERE tenant_id = $1
     )
     INSERT INTO provider_files (tenant_id, connection_id, file_id, form, reference, expires_at)
     SELECT $1, id, gen_random_uuid(), 'image', 'r', now() FROM channel_connections WHERE tenant_id = $1`,
    [tenantId],
  );
  await service.query(
    `WITH noticed AS (
       INSERT INTO answer_notices (tenant_id, id, conversation_id, connection_id, message_id, created_at)
       SELECT $1, gen_random_uuid(), $2, id, $3, now() FROM channel_connections WHERE tenant_id = $1
     )
     INSERT INTO answer_addresses (tenant_id, conversation_id, email, locale, created_at)
     VALUES ($1, $2, 'zoe@example.com', 'en', now())`,
    [tenantId, conversation.id, message.id],
  );
  await service.query(
    `WITH chosen AS (
       INSERT INTO agent_notice_choices VALUES ($1, $2, '{MINE}', 15, '{}', 0, NULL, now())
     )
     INSERT INTO agent_notices (tenant_id, id, agent_id, way, conversation_id, matter, subject_id, created_at)
     VALUES ($1, gen_random_uuid(), $2, 'MAIL', $3, 'MINE', $4, now())`,
    [tenantId, agent.id, conversation.id, message.id],
  );
  return tenantId;
}

/** Returns every column, index and constraint, a line each. */
async function schemaOf(database: Client): Promise<string[]> {
  const { rows } = await database.query<{ line: string }>(`
    SELECT format('%s.%s %s %s %s %s', table_name, column_name, data_type, is_nullable, column_default,
                  generation_expression) AS line
    FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    ORDER BY line`);
  return rows.map(({ line }) => line);
}
