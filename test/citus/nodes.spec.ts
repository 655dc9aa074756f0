import { once } from 'node:events';
import { AddressInfo, createServer } from 'node:net';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { LOWEST_ID, newId } from '../../src/common/ids';
import { Config } from '../../src/config/config';
import { connectionOptions } from '../../src/database/data-source';
import { Database } from '../../src/database/database';
import { MOMENT } from '../../src/database/moment';
import { EventQueueRepository } from '../../src/outbox/event-queue.repository';
import { QueueFloors } from '../../src/queue-floors/queue-floors';
import { createStores, dropStores, TestStores } from '../support/test-database';

const WORKSPACES = 16;
/** Time within which work of the nodes that answer is found. */
const FOUND_WITHIN_MS = 1_000;

let stores: TestStores;
let admin: Client;
let dataSource: DataSource;
let database: Database;
let events: EventQueueRepository;
let config: Config;
const tenantIds = Array.from({ length: WORKSPACES }, () => newId()).sort();

beforeAll(async () => {
  stores = await createStores();
  admin = new Client({ connectionString: stores.databaseAdminUrl });
  await admin.connect();
  config = {
    databaseUrl: stores.databaseUrl,
    databasePoolSize: 4,
    databasePrepared: true,
    role: 'worker',
    crossWorkspaceBatches: true,
  } as Config;
  dataSource = await new DataSource({ ...connectionOptions(config), migrations: [] }).initialize();
  database = await Database.forDataSource(dataSource, config);
  events = new EventQueueRepository(database, new QueueFloors());
  for (const tenantId of tenantIds) {
    await admin.query(
      `INSERT INTO workspaces (id, name, slug, plan_tier, created_at, updated_at) VALUES ($1, 'A', $2, 'PRO', now(), now())`,
      [tenantId, `a-${tenantId}`],
    );
    await database.transaction((tx) => {
      const event = { id: newId(), tenantId, type: 'message.created' as const, data: '{}', sequence: null };
      events.insertPipelined(tx, { ...event, createdAt: new Date() }, true);
    });
  }
}, 60_000);

afterAll(async () => {
  await dataSource.destroy();
  await admin.end();
  await dropStores(stores);
});

describe('a transaction on several nodes', () => {
  it('gives the nodes what it sets for the planner', async () => {
    const [tenantId] = tenantIds;
    const read = `SELECT current_setting('enable_seqscan') AS seqscan, current_setting('enable_sort') AS sort
      FROM (SELECT count(*) FROM event_queue WHERE tenant_id = $1) AS queue`;
    const [onNode] = await database.orderedTransaction((tx) => tx.prepared(read, [tenantId]));
    expect(onNode).toEqual({ seqscan: 'off', sort: 'off' });
    expect(await database.query(read, [tenantId])).toEqual([{ seqscan: 'on', sort: 'on' }]);
    const plan = await database.queueTransaction((tx) =>
      tx.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN SELECT event_id FROM event_queue WHERE tenant_id = '${tenantId}' AND event_id > '${LOWEST_ID}'`,
      ),
    );
    expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toMatch(
      /Index (Only )?Scan using event_queue_pkey_/,
    );
  });

  it('has one moment on all of them', async () => {
    const [tenantId] = tenantIds;
    const times = await database.transaction(async (tx) => {
      const [own] = await tx.query<{ at: string }>('SELECT now()::text AS at');
      await tx.query('SELECT pg_sleep(0.2)');
      const [node] = await tx.prepared<{ at: string; now: string }>(
        `SELECT $2::timestamptz::text AS at, now()::text AS now
         FROM (SELECT count(*) FROM event_queue WHERE tenant_id = $1) AS queue`,
        [tenantId, MOMENT],
      );
      return { own: own!.at, ...node! };
    });
    expect(times.at).toBe(times.own);
    expect(new Date(times.now).getTime()).toBeGreaterThanOrEqual(new Date(times.at).getTime() + 200);
  });
});

describe('the search for work', () => {
  it('finds that of all nodes', async () => {
    expect((await events.findWorkspaces(LOWEST_ID)).tenantIds).toEqual(tenantIds);
  });

  it('finds that of the others while a node is away, and all of it when it is back', async () => {
    const { rows } = await admin.query<{ id: number; host: string; port: number }>(
      `SELECT nodeid AS id, nodename AS host, nodeport AS port FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeid LIMIT 1`,
    );
    const { id, host, port } = rows[0]!;
    const there = await listWorkspacesOn(host, port);
    expect(there.length).toBeGreaterThan(0);
    expect(there.length).toBeLessThan(WORKSPACES);
    await admin.query('UPDATE pg_dist_node SET nodeport = $2 WHERE nodeid = $1', [
      id,
      await findClosedPort(),
    ]);
    try {
      // A process that starts now knows the node by this port alone.
      events = new EventQueueRepository(await Database.forDataSource(dataSource, config), new QueueFloors());
      const others = tenantIds.filter((tenantId) => !there.includes(tenantId));
      // The first search finds out that the node is away.
      await events.findWorkspaces(LOWEST_ID);
      const begin = performance.now();
      expect((await events.findWorkspaces(LOWEST_ID)).tenantIds).toEqual(others);
      expect(performance.now() - begin).toBeLessThan(FOUND_WITHIN_MS);
      await expect(database.query('SELECT count(*) FROM event_queue')).rejects.toThrow(
        /connection to the remote node/,
      );
    } finally {
      await admin.query('UPDATE pg_dist_node SET nodeport = $2 WHERE nodeid = $1', [id, port]);
    }
    await events.findWorkspaces(LOWEST_ID);
    expect((await events.findWorkspaces(LOWEST_ID)).tenantIds).toEqual(tenantIds);
  });
});

/** Returns those of the workspaces that a node has. */
async function listWorkspacesOn(host: string, port: number): Promise<string[]> {
  const { rows } = await admin.query<{ id: string }>(
    `SELECT w.id FROM unnest($3::uuid[]) AS w (id)
     JOIN citus_shards s ON s.shardid = get_shard_id_for_distribution_column('workspaces', w.id)
     WHERE s.nodename = $1 AND s.nodeport = $2`,
    [host, port, tenantIds],
  );
  return rows.map((row) => row.id);
}

/** Returns a port on which nothing listens. */
async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
