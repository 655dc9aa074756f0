import { randomBytes } from 'node:crypto';
import axios from 'axios';
import { Client } from 'pg';
import type { QueryRunner } from 'typeorm';
import { makeRoles } from '../../scripts/servers/roles.mjs';
import { AuditService } from '../../src/audit/audit.service';
import { SYSTEM } from '../../src/access/principal';
import { newId } from '../../src/common/ids';
import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { canChangeAudit, missingPrivileges } from '../../src/database/setup/database-roles';
import { migrate } from '../../src/database/setup/migrator';
import { OwnerDatabase } from '../../src/database/owner-database';
import { PartitionChanges } from '../../src/database/history/partition-changes';
import { lowestId, nameOf, Partitions } from '../../src/database/history/partitions';
import { MessagingHost } from '../support/messaging-host';
import { ownerConfig, ownerDatabase } from '../support/owner-database';
import { ServiceProcess } from '../support/service-process';
import { createEmptyDatabase, createStores, dropStores, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

const INSUFFICIENT_PRIVILEGE = '42501';

/** Removes the roles' settings, as in a database that was copied from another one. */
async function forgetSettings(host: MessagingHost): Promise<void> {
  const { pathname } = new URL(host.stores.databaseUrl);
  for (const role of ['messaging_service', 'messaging_owner'])
    await host.query(`ALTER ROLE ${role} IN DATABASE ${pathname.slice(1)} RESET ALL`);
}

describe('the database role of the service', () => {
  let host: MessagingHost;
  let owner: OwnerDatabase;
  let workspace: { id: string };
  let service: Client;

  beforeAll(async () => {
    host = await MessagingHost.create();
    owner = ownerDatabase(host);
    workspace = await host.make.workspace();
    await host.make.agent(workspace);
    service = new Client({ connectionString: host.stores.databaseUrl });
    await service.connect();
  });
  afterAll(async () => {
    await service.end();
    await owner.onApplicationShutdown();
    await host.close();
  });

  const refusalOf = (sql: string) =>
    service.query(sql).then(
      () => 'none',
      (error: { code: string }) => error.code,
    );

  it.each([
    `UPDATE audit_entries SET action = 'nothing'`,
    'UPDATE audit_entries SET metadata = metadata WHERE false',
    'DELETE FROM audit_entries',
    'TRUNCATE audit_entries',
    'TRUNCATE workspaces CASCADE',
    'ALTER TABLE audit_entries ADD COLUMN note text',
    'ALTER TABLE audit_entries OWNER TO messaging_service',
    'DROP TABLE audit_entries',
    'DROP SCHEMA public CASCADE',
    'SELECT FROM audit_entries FOR UPDATE',
    `INSERT INTO audit_entries SELECT * FROM audit_entries ON CONFLICT (tenant_id, id) DO UPDATE SET action = 'other'`,
    `MERGE INTO audit_entries a USING workspaces w ON a.tenant_id = w.id WHEN MATCHED THEN DELETE`,
    'CREATE TRIGGER hides BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()',
    'CREATE RULE hides AS ON INSERT TO audit_entries DO INSTEAD NOTHING',
    'GRANT DELETE ON audit_entries TO messaging_service',
    'SET ROLE messaging_owner',
    'GRANT messaging_owner TO messaging_service',
    'CREATE TABLE jottings (id uuid)',
    'DELETE FROM migrations',
  ])('is refused by PostgreSQL: %s', async (sql) => {
    const before = await host.query('SELECT * FROM audit_entries ORDER BY id');
    // GRANT only warns when the role has no right to grant.
    if (sql.startsWith('GRANT DELETE')) await service.query(sql);
    else expect(await refusalOf(sql)).toBe(INSUFFICIENT_PRIVILEGE);
    expect(await canChangeAudit(host.get(Database))).toBe(false);
    expect(before.length).toBeGreaterThan(0);
    expect(await host.query('SELECT * FROM audit_entries ORDER BY id')).toEqual(before);
  });

  it('truncates, alters and drops no table at all', async () => {
    const tables = await host.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')`,
    );
    expect(tables.length).toBeGreaterThan(20);
    for (const { name } of tables)
      for (const sql of [
        `TRUNCATE ${name}`,
        `ALTER TABLE ${name} ADD COLUMN note text`,
        `DROP TABLE ${name}`,
      ])
        expect({ sql, code: await refusalOf(sql) }).toEqual({ sql, code: INSUFFICIENT_PRIVILEGE });
  });

  it('adds and reads audit entries', async () => {
    const audit = host.get(AuditService);
    await audit.record({
      tenantId: workspace.id,
      actor: SYSTEM,
      action: 'dashboard.opened',
      entity: 'workspace',
      entityId: workspace.id,
    });
    expect((await audit.list(workspace.id, { limit: 1 }, SYSTEM)).data).toEqual([
      expect.objectContaining({ action: 'dashboard.opened' }),
    ]);
  });

  it('uses a new partition through its table, and has no privilege on the partition itself', async () => {
    const day = (await host.get(Partitions).readToday()) + 40;
    const changes = new PartitionChanges(owner);
    expect(await changes.create('events', day)).toBe('done');
    expect(await missingPrivileges(host.get(Database), null)).toEqual([]);
    expect(await changes.attach('events', day)).toBe('done');
    const id = `${lowestId(day).slice(0, 14)}7${newId().slice(15)}`;
    const values = [workspace.id, id];
    await service.query(
      `INSERT INTO events (tenant_id, id, type, data, created_at) VALUES ($1, $2, 'message.created', '{}', now())`,
      values,
    );
    await service.query(`UPDATE events SET type = 'webhook.test' WHERE tenant_id = $1 AND id = $2`, values);
    const { rowCount } = await service.query(
      'DELETE FROM events WHERE tenant_id = $1 AND id = $2 RETURNING id',
      values,
    );
    expect(rowCount).toBe(1);
    for (const sql of [`DELETE FROM ${nameOf('events', day)}`, `SELECT FROM ${nameOf('events', day)}`])
      expect(await refusalOf(sql)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it('leaves to the owner what the audit log loses with its workspace, all of it or nothing', async () => {
    const { id } = await host.make.workspace();
    await host.make.agent({ id });
    const count = () => host.query('SELECT FROM audit_entries WHERE tenant_id = $1', [id]);
    expect((await count()).length).toBeGreaterThan(0);
    const remove = (end: () => void) =>
      owner.transaction(async (tx) => {
        await tx.query('DELETE FROM audit_entries WHERE tenant_id = $1', [id]);
        end();
      });
    await expect(
      remove(() => {
        throw new Error('stopped');
      }),
    ).rejects.toThrow('stopped');
    expect((await count()).length).toBeGreaterThan(0);
    await remove(() => undefined);
    expect(await count()).toEqual([]);
  });
});

describe('migrate, with two database roles', () => {
  let host: MessagingHost;
  let owner: OwnerDatabase;

  beforeAll(async () => {
    host = await MessagingHost.create();
    owner = ownerDatabase(host);
  });
  afterAll(async () => {
    await owner.onApplicationShutdown();
    await host.close();
  });

  const config = (given: Partial<Config> = {}): Config => ({ ...ownerConfig(host), ...given });
  const withUser = (url: string, username: string, password = '') =>
    Object.assign(new URL(url), { username, password }).href;

  /** Returns the privileges of the roles, and when they were last written. */
  const privileges = () =>
    host.query(
      `SELECT oid::regclass::text AS name, relacl::text AS acl, xmin::text FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') ORDER BY name`,
    );

  async function withRole<T>(
    attributes: string,
    work: (name: string, password: string) => Promise<T>,
  ): Promise<T> {
    const name = `role_${randomBytes(4).toString('hex')}`;
    const password = randomBytes(8).toString('hex');
    await host.query(`CREATE ROLE ${name} LOGIN PASSWORD '${password}' ${attributes}`);
    try {
      return await work(name, password);
    } finally {
      await host.query(`DROP OWNED BY ${name}`);
      await host.query(`DROP ROLE ${name}`);
    }
  }

  it('changes nothing that is granted already', async () => {
    const before = await privileges();
    expect(await migrate(config(), 'up')).toEqual([]);
    expect(await privileges()).toEqual(before);
  });

  it('gives each role its settings in this database, once', async () => {
    const settings = () =>
      host.query<{ role: string; setting: string; xmin: string }>(
        `SELECT setrole::regrole::text AS role, unnest(setconfig) AS setting, s.xmin::text
         FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase AND datname = current_database()
         ORDER BY role, setting`,
      );
    const before = await settings();
    expect(before.map(({ role, setting }) => [role, setting])).toEqual(
      ['messaging_owner', 'messaging_service'].flatMap((role) => [
        [role, 'idle_in_transaction_session_timeout=30000'],
        [role, 'lock_timeout=2000'],
        [role, 'search_path=public, pg_temp'],
        [role, 'statement_timeout=5000'],
      ]),
    );
    await migrate(config(), 'up');
    expect(await settings()).toEqual(before);
    await forgetSettings(host);
    await migrate(config(), 'up');
    expect((await settings()).map(({ setting }) => setting)).toEqual(before.map(({ setting }) => setting));
  });

  it('waits for no time-out of its role', async () => {
    class TakesLong1899999999500 {
      async up(runner: QueryRunner): Promise<void> {
        for (const name of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
          seen.push(await runner.query(`SHOW ${name}`));
      }
      async down(): Promise<void> {}
    }
    const seen: unknown[] = [];
    await migrate(config(), 'up', [TakesLong1899999999500]);
    expect(seen).toEqual([
      [{ statement_timeout: '0' }],
      [{ lock_timeout: '1s' }],
      [{ idle_in_transaction_session_timeout: '0' }],
    ]);
    await owner.query(`DELETE FROM migrations WHERE name LIKE 'TakesLong%'`);
  });

  it('gives back what was revoked, and revokes what is too much', async () => {
    const before = (await privileges()).map(({ name }) => name);
    await owner.query('REVOKE ALL ON messages, event_queue, migrations FROM messaging_service');
    await owner.query('GRANT ALL ON audit_entries, contacts TO messaging_service');
    await owner.query('GRANT UPDATE (action) ON audit_entries TO messaging_service');
    const service = host.get(Database);
    expect(await missingPrivileges(service, null)).toEqual([
      { object: 'TABLE event_queue', privileges: 'DELETE, INSERT, SELECT, UPDATE' },
      { object: 'TABLE messages', privileges: 'DELETE, INSERT, SELECT, UPDATE' },
      { object: 'TABLE migrations', privileges: 'SELECT' },
    ]);
    expect(await canChangeAudit(service)).toBe(true);

    expect(await migrate(config(), 'up')).toEqual([]);
    expect(await missingPrivileges(service, null)).toEqual([]);
    expect(await canChangeAudit(service)).toBe(false);
    await expect(service.query('TRUNCATE contacts CASCADE')).rejects.toMatchObject({
      code: INSUFFICIENT_PRIVILEGE,
    });
    expect((await privileges()).map(({ name }) => name)).toEqual(before);
  });

  it('leaves the service nothing to make beside the tables, which the owner could meet', async () => {
    const service = host.get(Database);
    const admin = new Client({ connectionString: host.stores.databaseAdminUrl });
    await admin.connect();
    await admin.query('GRANT CREATE ON SCHEMA public TO PUBLIC');
    await service.query('CREATE FUNCTION lower(json) RETURNS text LANGUAGE sql RETURN $1::text');
    await service.query('DROP FUNCTION lower(json)');
    await expect(migrate(config(), 'up')).rejects.toMatchObject({
      code: 'INVALID_BODY',
      message: expect.stringMatching(/can make objects beside the tables/),
    });
    await admin.end();

    await makeRoles(host.stores.databaseAdminUrl);
    expect(await migrate(config(), 'up')).toEqual([]);
    await expect(
      service.query('CREATE FUNCTION lower(json) RETURNS text LANGUAGE sql RETURN $1::text'),
    ).rejects.toMatchObject({ code: INSUFFICIENT_PRIVILEGE });
  });

  it('serves another role of the service, also after it was renamed', () =>
    withRole('', async (name, password) => {
      const { databaseUrl } = host.stores;
      await migrate(config({ databaseUrl: withUser(databaseUrl, name, password) }), 'up');
      const renamed = `${name}_new`;
      await host.query(`ALTER ROLE ${name} RENAME TO ${renamed}`);
      await host.query(`ALTER ROLE ${renamed} PASSWORD '${password}'`);
      const before = await privileges();
      await migrate(config({ databaseUrl: withUser(databaseUrl, renamed, password) }), 'up');
      expect(await privileges()).toEqual(before);
      expect(await missingPrivileges(host.get(Database), renamed)).toEqual([]);
      await host.query(`ALTER ROLE ${renamed} RENAME TO ${name}`);
    }));

  it('is as with one role when both addresses are of the owner', async () => {
    const before = await privileges();
    const { databaseOwnerUrl } = host.stores;
    expect(await migrate(config({ databaseUrl: databaseOwnerUrl! }), 'up')).toEqual([]);
    expect(await privileges()).toEqual(before);
    expect(await canChangeAudit(owner as never)).toBe(true);
  });

  it('refuses what would not protect the audit log, and changes nothing', async () => {
    const { databaseUrl, databaseOwnerUrl, databaseAdminUrl } = host.stores;
    const other = await createStores();
    const before = await privileges();
    const refuse = (given: Partial<Config>, message: RegExp) =>
      expect(migrate(config(given), 'up')).rejects.toMatchObject({
        code: 'INVALID_BODY',
        message: expect.stringMatching(message),
      });
    try {
      await refuse({ databaseUrl: other.databaseUrl }, /lead to different databases/);
      await refuse({ databaseUrl: databaseAdminUrl }, /superuser.*Nothing was changed/);
      await refuse(
        { databaseUrl: databaseOwnerUrl!, databaseOwnerUrl: databaseAdminUrl },
        /is a superuser, or a member.*Nothing was changed/,
      );
      await refuse(
        { databaseUrl: databaseOwnerUrl!, databaseOwnerUrl: databaseUrl },
        /tables belong to the role "messaging_owner", not to "messaging_service"/,
      );
      await withRole('IN ROLE messaging_owner', (name, password) =>
        refuse({ databaseUrl: withUser(databaseUrl, name, password) }, /or a member of "messaging_owner"/),
      );
      expect(await privileges()).toEqual(before);
    } finally {
      await dropStores(other);
    }
  });

  it('says so when the role may write audit entries for another reason', () =>
    withRole('IN ROLE pg_write_all_data', (name, password) =>
      expect(
        migrate(config({ databaseUrl: withUser(host.stores.databaseUrl, name, password) }), 'up'),
      ).rejects.toMatchObject({
        code: 'INVALID_BODY',
        message: expect.stringContaining('can change audit entries through PUBLIC, or through a role'),
      }),
    ));

  describe('from one', () => {
    let stores: TestStores;

    beforeEach(async () => {
      stores = { ...host.stores, ...(await createEmptyDatabase({ withRoles: false })) };
    });
    afterEach(() => dropStores(stores));

    /**
     * Expects that, once the tables have another owner, the service can add audit entries but not change
     * them, and the owner can create and attach partitions.
     */
    async function expectProtected(given: TestStores, entries: number): Promise<void> {
      const after = await MessagingHost.create({ beside: { stores: given }, databaseUrl: given.databaseUrl });
      const afterOwner = new OwnerDatabase(ownerConfig(after, given), after.get(Database));
      try {
        expect(await migrate(ownerConfig(after, given), 'up')).toEqual([]);
        const service = after.get(Database);
        expect(await canChangeAudit(service)).toBe(false);
        await expect(service.query('DELETE FROM audit_entries')).rejects.toMatchObject({
          code: INSUFFICIENT_PRIVILEGE,
        });
        await after.make.agent(await after.make.workspace());
        const { length } = await after.query('SELECT FROM audit_entries');
        expect(length).toBeGreaterThan(entries);
        const day = (await after.get(Partitions).readToday()) + 30;
        expect(await new PartitionChanges(afterOwner).create('webhook_deliveries', day)).toBe('done');
        expect(await new PartitionChanges(afterOwner).attach('webhook_deliveries', day)).toBe('done');
      } finally {
        await afterOwner.onApplicationShutdown();
        await after.close();
      }
    }

    async function fillAsOneRole(databaseUrl: string): Promise<number> {
      await migrate(config({ databaseUrl, databaseOwnerUrl: null }), 'up');
      const before = await MessagingHost.create({ beside: { stores }, databaseUrl });
      try {
        expect(await canChangeAudit(before.get(Database))).toBe(true);
        await before.make.agent(await before.make.workspace());
        return (await before.query('SELECT FROM audit_entries')).length;
      } finally {
        await before.close();
      }
    }

    it('keeps everything when the tables get a new owner', async () => {
      const entries = await fillAsOneRole(stores.databaseAdminUrl);
      expect(entries).toBeGreaterThan(0);
      await makeRoles(stores.databaseAdminUrl);
      await makeRoles(stores.databaseAdminUrl);
      await expectProtected(stores, entries);
    });

    it('keeps everything when the role of before becomes the owner', async () => {
      await withRole('', async (name, password) => {
        const admin = new Client({ connectionString: stores.databaseAdminUrl });
        await admin.connect();
        await admin.query(`GRANT CREATE ON SCHEMA public TO ${name}`);
        const formerUrl = withUser(stores.databaseUrl, name, password);
        const entries = await fillAsOneRole(formerUrl);
        await expectProtected({ ...stores, databaseOwnerUrl: formerUrl }, entries);
        await admin.query(`DROP OWNED BY ${name} CASCADE`);
        await admin.end();
      });
    });
  });
});

describe('processes with two database roles', () => {
  let host: MessagingHost;
  const running: ServiceProcess[] = [];

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  afterEach(async () => {
    for (const one of running) one.kill('SIGTERM');
    await Promise.all(running.map(({ exited }) => exited));
    running.length = 0;
  });
  afterAll(() => host.close());

  async function start(role: 'api' | 'worker', env: Record<string, string> = {}): Promise<ServiceProcess> {
    const one = await ServiceProcess.start(role, host.stores, env);
    running.push(one);
    return one;
  }

  const ready = ({ port }: ServiceProcess) =>
    axios.get(`http://127.0.0.1:${port}/health/ready`, { proxy: false, validateStatus: null });

  const notReady = (message: string, field = 'privileges') => ({
    status: 503,
    data: { error: { code: 'UNAVAILABLE', details: [{ field, message }] } },
  });

  it('are not ready while a privilege is missing, and are once it is granted', async () => {
    await host.query('REVOKE INSERT ON messages FROM messaging_service');
    const api = await start('api');
    expect(await ready(api)).toMatchObject(notReady("of the service's database role are missing"));
    await migrate(ownerConfig(host), 'up');
    const answer = await waitFor('readiness', async () => {
      const now = await ready(api);
      return now.status === 200 && now;
    });
    expect(answer).toMatchObject({ data: { privileges: 'granted' } });
  });

  it.each(['api', 'worker'] as const)(
    'are not ready as %s without the settings of their roles',
    async (role) => {
      await forgetSettings(host);
      const one = await start(role);
      expect(await ready(one)).toMatchObject(
        notReady('of the database roles are missing: run "migrate"', 'settings'),
      );
      await migrate(ownerConfig(host), 'up');
      // A connection that was opened in between is replaced once it has been found without the settings.
      const answer = await waitFor('readiness', async () => {
        const now = await ready(one);
        return now.status === 200 && now;
      });
      expect(answer).toMatchObject({ data: { settings: 'set' } });
    },
  );

  it('are not ready as workers that cannot act as the owner', async () => {
    const other = await createStores();
    try {
      for (const url of ['', host.stores.databaseUrl, other.databaseOwnerUrl!])
        expect(await ready(await start('worker', { DATABASE_OWNER_URL: url }))).toMatchObject(
          notReady("of the tables' owner are missing"),
        );
    } finally {
      await dropStores(other);
    }
  });

  it('hold at most two connections of the owner, and none when there is nothing to do', async () => {
    const connections = async () =>
      (
        await host.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'messaging-worker-owner'`,
        )
      ).length;
    const worker = await start('worker');
    expect(await ready(worker)).toMatchObject({ status: 200 });
    const open = await connections();
    expect(open).toBeGreaterThan(0);
    expect(open).toBeLessThanOrEqual(2);
    await waitFor('idle connections to be closed', async () => (await connections()) === 0, 30_000);
  });
});
