import { Client, PoolClient } from 'pg';
import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { DatabaseClient } from '../../src/database/driver/database-client';
import { connectionOptions } from '../../src/database/data-source';
import { DatabasePool } from '../../src/database/driver/database-pool';
import { missingPrivileges } from '../../src/database/setup/database-roles';
import { migrate } from '../../src/database/setup/migrator';
import { OwnerDatabase } from '../../src/database/owner-database';
import { PartitionChanges } from '../../src/database/history/partition-changes';
import { Partitions } from '../../src/database/history/partitions';
import { missingRoleSettings } from '../../src/database/setup/role-settings';
import { Pooler } from '../support/pooler';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { createEmptyDatabase, createStores, direct, dropStores, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';
import { Crowd } from './crowd';

const isFull = process.env['TOPOLOGY'] === 'pooler';
const SERVER_CONNECTIONS = 20;
/** Processes with 20 connections each, whose clients share the pooler's connections. */
const PROCESSES = isFull ? 50 : 5;
const CONNECTIONS_OF_A_PROCESS = 20;
/** SQLSTATE of the error when PgBouncer refuses a startup parameter. */
const PROTOCOL_VIOLATION = '08P01';

describe('behind PgBouncer in transaction mode', () => {
  let given: TestStores;
  let pooler: Pooler;
  let service: TestService;
  let receiver: Receiver;
  let workspace: WebhookWorkspace;

  beforeAll(async () => {
    given = await createStores();
    pooler = await Pooler.start(given, SERVER_CONNECTIONS);
    receiver = await Receiver.start();
    service = await TestService.create({
      role: 'all',
      beside: { stores: pooler.stores },
      env: pooler.env,
    });
    workspace = await WebhookWorkspace.create(service);
    await service.make.agent(workspace);
    await workspace.addEndpoint(receiver.url());
  });

  const apiClient = async () => service.client.as(await service.make.apiKey(workspace));
  const databaseConfig = (changes: Partial<Config>): Config => ({ ...service.app.get(Config), ...changes });

  it('is ready', async () => {
    const { status, body } = await service.client.send({ method: 'GET', path: '/health/ready' });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ migrations: 'applied', privileges: 'granted', settings: 'set' }),
    ]);
  });

  it('takes messages, lists them, and delivers their webhooks', async () => {
    const client = await apiClient();
    const path = `/conversations/${workspace.conversation.id}/messages`;
    const ids = await Promise.all(
      Array.from({ length: 30 }, async (_, index) => {
        const { status, body } = await client.post(path, { body: `Message ${index}` });
        expect(status).toBe(201);
        return body.message.id as string;
      }),
    );
    const { body } = await client.get(path);
    expect((body.data as { id: string }[]).map(({ id }) => id).sort()).toEqual(ids.sort());
    const webhooks = await receiver.waitForCount(ids.length);
    expect(webhooks.map(({ envelope }) => envelope.data.message.id as string).sort()).toEqual(ids);
  });

  it('limits the time of a search, and of nothing after it', async () => {
    const database = service.app.get(Database);
    await expect(database.preparedWithin(50, 'SELECT pg_sleep(1)', [])).rejects.toMatchObject({
      code: '57014',
    });
    const limits = await Promise.all(
      Array.from({ length: 2 * SERVER_CONNECTIONS }, () =>
        database.query<{ statement_timeout: string }>('SHOW statement_timeout'),
      ),
    );
    expect(new Set(limits.map(([row]) => row!.statement_timeout))).toEqual(new Set(['5s']));
    const { status, body } = await (await apiClient()).get('/contacts?q=Zo%C3%AB');
    expect([status, body.data.length]).toEqual([200, 1]);
  });

  it('changes partitions and vacuums as the owner', async () => {
    const owner = new OwnerDatabase(service.app.get(Config), service.app.get(Database));
    try {
      const day = (await service.app.get(Partitions).readToday()) + 20;
      const changes = new PartitionChanges(owner);
      for (const change of ['create', 'attach', 'detach', 'drop'] as const)
        expect(await changes[change]('events', day)).toBe('done');
      await owner.vacuum('event_queue');
      expect(await missingRoleSettings(owner)).toEqual([]);
    } finally {
      await owner.onApplicationShutdown();
    }
  });

  it('is migrated past it', async () => {
    const empty = { ...given, ...(await createEmptyDatabase()) };
    const name = new URL(empty.databaseUrl).pathname;
    const inEmpty = (url: string) => Object.assign(new URL(url), { pathname: name }).href;
    const { databaseUrl, databaseOwnerUrl = databaseUrl } = pooler.stores;
    try {
      const config = databaseConfig({
        databaseUrl: inEmpty(databaseUrl),
        databaseOwnerUrl: inEmpty(databaseOwnerUrl),
        databaseDirectUrl: direct(inEmpty(databaseOwnerUrl)),
      });
      expect((await migrate(config, 'up')).length).toBeGreaterThan(0);
      expect(await migrate(config, 'up')).toEqual([]);
      // The owner has one address only here.
      expect(await migrate({ ...config, databaseOwnerUrl: null }, 'up')).toEqual([]);
      await expect(migrate({ ...config, databaseDirectUrl: null }, 'up')).rejects.toMatchObject({
        code: 'INVALID_BODY',
        message: expect.stringContaining('DATABASE_DIRECT_URL'),
      });
      const pool = new DatabasePool(poolOptions(config));
      const client = await connect(pool);
      const reader = {
        query: async <Row>(sql: string, parameters: unknown[] = []) =>
          (await client.runStatement<Row>(sql, parameters)).rows,
      };
      expect(await missingRoleSettings(reader)).toEqual([]);
      expect(await missingPrivileges(reader as Database, null)).toEqual([]);
      client.release();
      await pool.end();
    } finally {
      await dropStores(empty);
    }
  });

  it(`serves ${PROCESSES} processes with ${SERVER_CONNECTIONS} connections`, async () => {
    const pools = Array.from({ length: PROCESSES }, () => new DatabasePool(poolOptions(databaseConfig({}))));
    const crowd = new Crowd(pools, CONNECTIONS_OF_A_PROCESS);
    try {
      await waitFor('all clients', async () => {
        const { clients } = await pooler.state();
        return clients >= PROCESSES * CONNECTIONS_OF_A_PROCESS;
      });
      const client = await apiClient();
      for (let index = 0; index < 20; index++) {
        const { status } = await client.post(`/conversations/${workspace.conversation.id}/messages`, {
          body: `In the crowd ${index}`,
        });
        expect(status).toBe(201);
      }
      const { servers } = await pooler.state();
      expect(servers).toBeLessThanOrEqual(SERVER_CONNECTIONS);
    } finally {
      expect(Math.min(...(await crowd.stop()))).toBeGreaterThan(0);
    }
  });

  it('refuses the startup parameters that the service left out', async () => {
    const client = new Client({ connectionString: pooler.stores.databaseUrl, statement_timeout: 5_000 });
    await expect(client.connect()).rejects.toMatchObject({ code: PROTOCOL_VIOLATION });
  });

  /** Returns the pool options of a process of the service. */
  function poolOptions(config: Config) {
    return { ...connectionOptions(config).extra, max: CONNECTIONS_OF_A_PROCESS };
  }

  const connect = (pool: DatabasePool) => pool.connect() as Promise<PoolClient & DatabaseClient>;
});
