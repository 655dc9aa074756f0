import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { Client } from 'pg';
import { DataSource, MigrationInterface, QueryRunner } from 'typeorm';
import { LookUps1795486100000 } from '../../migrations/1795486100000-look-ups';
import { createIndexConcurrently } from '../../migrations/support/concurrent-index';
import { newId } from '../../src/common/ids';
import { Config } from '../../src/config/config';
import { connectionOptions } from '../../src/database/data-source';
import { areMigrationsApplied } from '../../src/database/setup/migration-state';
import { migrate } from '../../src/database/setup/migrator';
import { PartitionChanges } from '../../src/database/history/partition-changes';
import { nameOf, Partitions } from '../../src/database/history/partitions';
import { TableRegistry } from '../../src/database/tables/table-registry';
import { MessagingHost } from '../support/messaging-host';
import { ownerConfig, ownerDatabase } from '../support/owner-database';
import { createEmptyDatabase, dropStores, ownerOf, setting, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

type Stores = Omit<TestStores, 'redisUrl'>;

const ROOT = join(__dirname, '../..');
/** Number of the newest migrations before the look-ups that are taken back and applied again. */
const STEPS = 9;
/** Time in the name of the migration of the look-ups. */
const LOOK_UPS_AT = 1_795_486_100_000;

/** Migration as a later version may have it, with all that Citus takes only in some form. */
class Later1899999999000 implements MigrationInterface {
  readonly transaction = false;

  async up(db: QueryRunner): Promise<void> {
    await db.query(`
      CREATE TABLE jottings (
        tenant_id uuid NOT NULL REFERENCES workspaces (id),
        id        uuid NOT NULL,
        PRIMARY KEY (tenant_id, id)
      )`);
    await db.query('CREATE TABLE jotters (person_id uuid PRIMARY KEY REFERENCES people (id))');
    await db.query('ALTER TABLE contacts ADD COLUMN rank integer NOT NULL DEFAULT 0');
    await db.query('ALTER TABLE contacts ADD CONSTRAINT contacts_rank_check CHECK (rank >= 0)');
    for (const table of ['messages', 'events'])
      await createIndexConcurrently(db, {
        name: `${table}_later_idx`,
        table,
        definition: '(tenant_id, created_at)',
      });
  }

  async down(db: QueryRunner): Promise<void> {
    await db.query('DROP INDEX CONCURRENTLY messages_later_idx');
    await db.query('DROP INDEX events_later_idx');
    await db.query('ALTER TABLE contacts DROP CONSTRAINT contacts_rank_check');
    await db.query('ALTER TABLE contacts DROP COLUMN rank');
    await db.query('DROP TABLE jotters, jottings');
  }
}

describe('the tables on Citus', () => {
  let host: MessagingHost;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });

  it('are where their declarations say', async () => {
    const placed = await host.query<{ name: string; type: string; column: string; group: number }>(
      `SELECT table_name::text AS name, citus_table_type AS type, distribution_column AS column, colocation_id AS group
       FROM citus_tables JOIN pg_class c ON c.oid = table_name WHERE NOT c.relispartition ORDER BY 1`,
    );
    const groups = new Set(placed.flatMap(({ type, group }) => (type === 'distributed' ? [group] : [])));
    expect(groups.size).toBe(1);
    const [group] = groups;
    const declared = host
      .get(TableRegistry)
      .list()
      .map(({ name, placement }) =>
        placement === 'coordinator'
          ? { name, type: 'local', column: '<none>', group: 0 }
          : { name, type: 'distributed', column: name === 'workspaces' ? 'id' : 'tenant_id', group },
      );
    expect(placed).toEqual(declared);
  });

  it('have each partition of the history on the nodes, a new one before it is attached', async () => {
    const owner = ownerDatabase(host);
    const changes = new PartitionChanges(owner);
    const day = (await host.get(Partitions).readToday()) + 40;
    const name = nameOf('events', day);
    const isDistributed = `SELECT FROM citus_tables WHERE table_name = $1::regclass AND citus_table_type = 'distributed'`;
    expect(await changes.create('events', day)).toBe('done');
    expect(await host.query(isDistributed, [name])).toHaveLength(1);
    expect(await changes.attach('events', day)).toBe('done');
    await owner.onApplicationShutdown();
    const others = await host.query(
      `SELECT inhrelid::regclass FROM pg_inherits JOIN pg_class p ON p.oid = inhparent AND p.relkind = 'p'
       WHERE NOT EXISTS (SELECT FROM citus_tables WHERE table_name = inhrelid::regclass AND citus_table_type = 'distributed')`,
    );
    expect(others).toEqual([]);
  });

  /** Runs what is to find the migrations of an earlier time alone. */
  async function before(timestamp: number, work: () => Promise<void>): Promise<void> {
    const later = await host.query<{ timestamp: string; name: string }>(
      'DELETE FROM migrations WHERE timestamp >= $1 RETURNING timestamp, name',
      [timestamp],
    );
    await work();
    for (const { timestamp, name } of later)
      await host.query('INSERT INTO migrations (timestamp, name) VALUES ($1, $2)', [timestamp, name]);
  }

  it('keep the look-ups, which the database can’t do without', () =>
    before(LOOK_UPS_AT + 1, async () => {
      await expect(migrate(ownerConfig(host), 'down', [LookUps1795486100000])).rejects.toThrow(/distributed/);
    }));

  it('take later migrations, up, down and up again, with rows in them', async () => {
    const workspace = await host.make.workspace();
    await host.make.contact(workspace);
    const step = (direction: 'up' | 'down') => migrate(ownerConfig(host), direction, [Later1899999999000]);
    const placements = () =>
      host.query(
        `SELECT table_name::text AS name, citus_table_type AS type FROM citus_tables
         WHERE table_name::text IN ('jottings', 'jotters') ORDER BY 1`,
      );
    for (let round = 0; round < 2; round += 1) {
      expect(await step('up')).toEqual([Later1899999999000.name]);
      expect(await placements()).toEqual([
        { name: 'jotters', type: 'local' },
        { name: 'jottings', type: 'distributed' },
      ]);
      await host.query('INSERT INTO jottings VALUES ($1, $2)', [workspace.id, newId()]);
      await expect(host.query('INSERT INTO jottings VALUES ($1, $1)', [newId()])).rejects.toMatchObject({
        driverError: { code: '23503' },
      });
      await expect(
        host.query('UPDATE contacts SET rank = -1 WHERE tenant_id = $1', [workspace.id]),
      ).rejects.toMatchObject({ driverError: { code: '23514' } });
      expect(await step('down')).toEqual([Later1899999999000.name]);
    }
    expect(await placements()).toEqual([]);
  });

  it('take the newest migrations before the look-ups, down and up again', () =>
    before(LOOK_UPS_AT, async () => {
      const folder = join(ROOT, 'dist/migrations');
      const earlier = readdirSync(folder)
        .filter((file) => file.endsWith('.js') && file < String(LOOK_UPS_AT))
        .map((file) => join(folder, file));
      const undone: string[] = [];
      for (let n = 0; n < STEPS; n += 1) undone.push(...(await migrate(ownerConfig(host), 'down', earlier)));
      expect(undone).toHaveLength(STEPS);
      expect(await migrate(ownerConfig(host), 'up', earlier)).toEqual(undone.reverse());
    }));
});

describe('migrate on Citus', () => {
  let empty: Stores;

  beforeEach(async () => {
    empty = await createEmptyDatabase();
  });
  afterEach(() => dropStores(empty));

  const environmentOf = (stores: Stores) => ({
    DATABASE_URL: stores.databaseUrl,
    ...ownerOf({ ...stores, redisUrl: '' }),
    REDIS_URL: 'redis://127.0.0.1:1',
    SECRETS_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
  });
  const migrateIn = (stores: Stores) => migrate(Config.from(environmentOf(stores)), 'up');

  /** Runs a statement as the administrator of the coordinator. */
  async function query<Row extends object>(sql: string, values: unknown[] = []): Promise<Row[]> {
    const client = new Client({ connectionString: empty.databaseAdminUrl });
    await client.connect();
    try {
      return (await client.query<Row>(sql, values)).rows;
    } finally {
      await client.end();
    }
  }

  const unknown = () =>
    query(
      `SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
         AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
         AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')`,
    );

  /** Returns what readiness says of the migrations, to a process with the role of the killed run. */
  async function isMigrated(): Promise<boolean> {
    const { databaseUrl, databaseOwnerUrl = databaseUrl } = empty;
    const config = Config.from({ ...environmentOf(empty), DATABASE_URL: databaseOwnerUrl });
    const options = { ...connectionOptions(config), migrations: [join(ROOT, 'dist/migrations/*.js')] };
    const dataSource = await new DataSource(options).initialize();
    try {
      return await areMigrationsApplied(dataSource);
    } finally {
      await dataSource.destroy();
    }
  }

  it('goes on where a run was killed while it distributed the tables, and then finds nothing to do', async () => {
    const killed = spawn(process.execPath, [join(ROOT, 'dist/cli.js'), 'migrate'], {
      env: { ...process.env, ...environmentOf(empty) },
      stdio: 'ignore',
    });
    const exited = once(killed, 'exit');
    await waitFor(
      'the distribution',
      async () =>
        (
          await query(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ~ 'create_distributed_table'
                      AND state = 'active' AND pid <> pg_backend_pid()`)
        ).length > 0,
      60_000,
    );
    killed.kill('SIGKILL');
    await exited;
    expect(await isMigrated()).toBe(false);
    expect(await migrateIn(empty)).toEqual([]);
    expect(await isMigrated()).toBe(true);
    expect(await unknown()).toEqual([{ relname: 'migrations' }]);
    expect(await migrateIn(empty)).toEqual([]);
  }, 180_000);

  it('refuses a worker node, a database that was filled on one server, and a cluster without nodes', async () => {
    const [, worker] = setting('TEST_DATABASE_NODES').split(' ');
    const onWorker = (url: string) => Object.assign(new URL(url), { port: new URL(worker!).port }).href;
    const { databaseUrl, databaseOwnerUrl, databaseAdminUrl } = empty;
    const stores = {
      databaseUrl: onWorker(databaseUrl),
      databaseAdminUrl: onWorker(databaseAdminUrl),
      ...(databaseOwnerUrl && { databaseOwnerUrl: onWorker(databaseOwnerUrl) }),
    };
    await expect(migrateIn(stores)).rejects.toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringContaining('worker node'),
    });
    await query('CREATE TABLE workspaces (id uuid PRIMARY KEY)');
    await query('GRANT SELECT ON workspaces TO PUBLIC');
    await query('INSERT INTO workspaces VALUES ($1)', [newId()]);
    await expect(migrateIn(empty)).rejects.toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringMatching(/filled.*Nothing was changed/),
    });
    await query('DROP TABLE workspaces');
    await query(
      'SELECT citus_remove_node(nodename, nodeport) FROM pg_dist_node WHERE groupid > 0 ORDER BY nodeid',
    );
    await expect(migrateIn(empty)).rejects.toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringMatching(/citus_add_node.*Nothing was changed/),
    });
    expect(await query(`SELECT to_regclass('migrations') AS name`)).toEqual([{ name: null }]);
  }, 60_000);

  it('says that a node is away, and goes on when it is back', async () => {
    const [node] = await query<{ id: number; host: string; port: number }>(
      'SELECT nodeid AS id, nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid > 0 LIMIT 1',
    );
    await query('UPDATE pg_dist_node SET nodeport = 1 WHERE nodeid = $1', [node!.id]);
    await expect(migrateIn(empty)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringMatching(/node of Citus does not answer.*again/),
    });
    await query('UPDATE pg_dist_node SET nodeport = $2 WHERE nodeid = $1', [node!.id, node!.port]);
    await migrateIn(empty);
    expect(await unknown()).toEqual([{ relname: 'migrations' }]);
  }, 120_000);
});
