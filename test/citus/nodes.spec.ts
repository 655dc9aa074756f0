import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { AddressInfo, createServer } from 'node:net';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { LOWEST_ID, newId } from '../../src/common/ids';
import { Config } from '../../src/config/config';
import { connectionOptions } from '../../src/database/data-source';
import { Database } from '../../src/database/database';
import { SteppedSearch } from '../../src/queue/polling/searches';
import { LoginSessionsRepository } from '../../src/logins/sessions/login-sessions.repository';
import { EventQueueRepository } from '../../src/outbox/event-queue.repository';
import { QueuedWorkspacesRepository } from '../../src/outbox/queued-workspaces.repository';
import { QueueFloors } from '../../src/queue/floors/queue-floors';
import { stopAtEnd } from '../support/stop-at-end';
import { createStores, TestStores } from '../support/test-database';
import { letTimePass, waitFor } from '../support/wait';
import { holdShards, listNodes, WorkerNode, workspacesOn } from './shards';

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
  stopAtEnd(admin, () => admin.end());
  await admin.connect();
  config = {
    databaseUrl: stores.databaseUrl,
    databasePoolSize: 4,
    databasePrepared: true,
    role: 'worker',
    crossWorkspaceBatches: true,
  } as Config;
  dataSource = await new DataSource({ ...connectionOptions(config), migrations: [] }).initialize();
  stopAtEnd(dataSource, () => dataSource.destroy());
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
        `SELECT now()::text AS at, transaction_timestamp()::text AS now
         FROM (SELECT count(*) FROM event_queue WHERE tenant_id = $1) AS queue`,
        [tenantId],
      );
      return { own: own!.at, ...node! };
    });
    expect(times.at).toBe(times.own);
    expect(new Date(times.now).getTime()).toBeGreaterThanOrEqual(new Date(times.at).getTime() + 200);
  });
});

describe('a read', () => {
  it('does not wait for one of another node in the same turn', async () => {
    const workers = await listNodes(admin);
    const [slow, other] = await Promise.all(workers.map((one) => workspacesOn(admin, one, tenantIds)));
    const onNode = await holdShards(admin, stores, workers[0]!, 'event_queue', [slow![0]!]);
    const read = (tenantId: string) =>
      database.pipelinedRead('SELECT event_id FROM event_queue WHERE tenant_id = $1', [tenantId]);
    const waiting = read(slow![0]!);
    expect(await read(other![0]!)).toHaveLength(1);
    await onNode.query('ROLLBACK');
    await onNode.end();
    expect(await waiting).toHaveLength(1);
  });
});

describe('the search for work', () => {
  let node: WorkerNode;
  let there: string[];
  let elsewhere: string[];
  let found: Set<string>;
  let search: SteppedSearch<string>;

  beforeEach(async () => {
    node = (await listNodes(admin))[0]!;
    there = await workspacesOn(admin, node, tenantIds);
    elsewhere = tenantIds.filter((tenantId) => !there.includes(tenantId));
    expect(there.length).toBeGreaterThan(0);
    expect(elsewhere.length).toBeGreaterThan(0);
    await begin();
  });

  /** Begins as a process does that has just started. */
  async function begin(): Promise<void> {
    const fresh = await Database.forDataSource(dataSource, config);
    const queue = new QueuedWorkspacesRepository(new QueueFloors());
    found = new Set();
    search = new SteppedSearch(fresh, LOWEST_ID, async (after, server) => {
      const step = await queue.findWorkspaces(after, server);
      for (const tenantId of step.tenantIds) found.add(tenantId);
      return step.next;
    });
    database = fresh;
  }

  /** Returns what a run finds, and the milliseconds that it takes. */
  async function run(): Promise<{ tenantIds: string[]; ms: number }> {
    found.clear();
    const startedAt = performance.now();
    await search.run();
    return { tenantIds: [...found].sort(), ms: performance.now() - startedAt };
  }

  it('finds that of all nodes', async () => {
    expect((await run()).tenantIds).toEqual(tenantIds);
  });

  it('finds that of the others while a node is away, and all of it when it is back', async () => {
    const port = await findClosedPort();
    await admin.query('UPDATE pg_dist_node SET nodeport = $2 WHERE nodeid = $1', [node.id, port]);
    try {
      await begin();
      for (let n = 0; n < 2; n += 1) {
        const { tenantIds: present, ms } = await run();
        expect(present).toEqual(elsewhere);
        expect(ms).toBeLessThan(FOUND_WITHIN_MS);
      }
      await expect(database.query('SELECT count(*) FROM event_queue')).rejects.toThrow(
        /connection to the remote node/,
      );
    } finally {
      await admin.query('UPDATE pg_dist_node SET nodeport = $2 WHERE nodeid = $1', [node.id, node.port]);
    }
    expect((await run()).tenantIds).toEqual(tenantIds);
  });

  it('finds that of the others while a node is slow, and its own once it has answered', async () => {
    const onNode = await holdShards(admin, stores, node, 'event_queue', [there[0]!]);
    try {
      for (let n = 0; n < 2; n += 1) {
        const { tenantIds: present, ms } = await run();
        expect(present).toEqual(elsewhere);
        expect(ms).toBeLessThan(FOUND_WITHIN_MS);
      }
    } finally {
      await onNode.query('ROLLBACK');
      await onNode.end();
    }
    await waitFor('the work of the slow node', async () => {
      await run();
      return there.every((tenantId) => found.has(tenantId));
    });
  });

  it('goes to a node over a connection that the coordinator keeps', async () => {
    const server = (await database.placement.listServers()).find(
      ({ name }) => name === `${node.host}:${node.port}`,
    )!;
    const sql = 'SELECT pg_backend_pid() AS id FROM (SELECT count(*) FROM event_queue) AS queue';
    const processes: number[] = [];
    for (let n = 0; n < 2; n += 1) {
      const rows = await server.search<{ id: number }>(sql, [], { order: () => [] });
      processes.push(...rows.map(({ id }) => id));
    }
    expect(new Set(processes).size).toBe(1);
  });

  it('tells each node of its own workspaces alone', async () => {
    const onNode = await holdShards(admin, stores, node, 'event_queue', [there[0]!]);
    try {
      const server = (await database.placement.listServers()).find(
        ({ name }) => name === `${node.host}:${node.port}`,
      )!;
      const sent = server.search<{ id: string }>(
        'SELECT w.id FROM unnest($1::uuid[]) AS w (id), event_queue q WHERE q.tenant_id = w.id',
        [tenantIds],
        { order: ({ id }) => [id], lists: 1 },
      );
      const asked = await waitFor('the search', async () => {
        await onNode.query('SELECT pg_stat_clear_snapshot()');
        const { rows } = await onNode.query<{ query: string }>(
          `SELECT query FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ~ 'json_build_array'`,
        );
        return rows[0]?.query;
      });
      expect(there.some((tenantId) => asked.includes(tenantId))).toBe(true);
      expect(elsewhere.filter((tenantId) => asked.includes(tenantId))).toEqual([]);
      await onNode.query('ROLLBACK');
      expect((await sent).map(({ id }) => id)).toEqual(there);
    } finally {
      await onNode.end();
    }
  });
});

describe('a session of a person whose workspaces are on two nodes', () => {
  const hash = randomBytes(32);
  let nodes: WorkerNode[];
  let present: string;
  let absent: string;

  beforeAll(async () => {
    nodes = await listNodes(admin);
    [[absent], [present]] = (await Promise.all(nodes.map((one) => workspacesOn(admin, one, tenantIds)))) as [
      [string],
      [string],
    ];
    const personId = newId();
    await admin.query(
      `INSERT INTO people (id, email, name, theme, password_hash, created_at)
       VALUES ($1, $2, 'Ada', 'auto', 'none', now())`,
      [personId, `${personId}@example.com`],
    );
    await admin.query(
      `INSERT INTO login_sessions (id, person_id, hash, created_at, last_used_at, expires_at)
       VALUES ($1, $2, $3, now(), now(), now() + interval '1 hour')`,
      [newId(), personId, hash],
    );
    for (const tenantId of [present, absent]) {
      const agentId = newId();
      await admin.query(
        `INSERT INTO agents (id, tenant_id, name, email, role, is_bot, active, created_at, updated_at)
         VALUES ($1, $2, 'Ada', 'ada@example.com', 'OWNER', false, true, now(), now())`,
        [agentId, tenantId],
      );
      await admin.query(
        'INSERT INTO memberships (tenant_id, agent_id, person_id, created_at) VALUES ($1, $2, $3, now())',
        [tenantId, agentId, personId],
      );
      await admin.query('INSERT INTO person_workspaces (person_id, tenant_id) VALUES ($1, $2)', [
        personId,
        tenantId,
      ]);
    }
  });

  /** Returns the workspaces that a session opens, those that do not answer, and the time that it takes. */
  async function open(): Promise<{ opened: string[]; unreachable: string[]; ms: number }> {
    const startedAt = performance.now();
    const session = await sessions.authenticate(hash);
    return {
      opened: session!.memberships.map(({ workspace }) => workspace.id).sort(),
      unreachable: session!.unreachableWorkspaceIds,
      ms: performance.now() - startedAt,
    };
  }
  let sessions: LoginSessionsRepository;
  beforeEach(async () => {
    sessions = new LoginSessionsRepository(await Database.forDataSource(dataSource, config));
  });

  it('opens both', async () => {
    expect(await open()).toMatchObject({ opened: [present, absent].sort(), unreachable: [] });
  });

  it('opens the one whose node answers while the other is away', async () => {
    const port = await findClosedPort();
    await admin.query('UPDATE pg_dist_node SET nodeport = $2 WHERE nodeid = $1', [nodes[0]!.id, port]);
    try {
      for (let n = 0; n < 2; n += 1)
        expect(await open()).toMatchObject({ opened: [present], unreachable: [absent] });
    } finally {
      await admin.query('UPDATE pg_dist_node SET nodeport = $2 WHERE nodeid = $1', [
        nodes[0]!.id,
        nodes[0]!.port,
      ]);
    }
    await waitFor('the other node', async () => (await open()).unreachable.length === 0);
    expect((await open()).opened).toEqual([present, absent].sort());
  });

  it('opens the one whose node answers while the other is slow, and waits for that once', async () => {
    const onNode = await holdShards(admin, stores, nodes[0]!, 'memberships', [absent]);
    try {
      expect(await open()).toMatchObject({ opened: [present], unreachable: [absent] });
      const { ms, ...found } = await open();
      expect(found).toEqual({ opened: [present], unreachable: [absent] });
      expect(ms).toBeLessThan(FOUND_WITHIN_MS);
    } finally {
      await onNode.query('ROLLBACK');
      await onNode.end();
    }
    await waitFor('the slow node', async () => (await open()).unreachable.length === 0);
  });

  it('opens the one whose node answers for many more requests than there are connections', async () => {
    const onNode = await holdShards(admin, stores, nodes[0]!, 'memberships', [absent]);
    try {
      const requests = [];
      for (let n = 0; n < 10 * config.databasePoolSize; n += 1) {
        requests.push(open());
        await letTimePass(20);
      }
      for (const found of await Promise.all(requests))
        expect(found).toMatchObject({ opened: [present], unreachable: [absent] });
    } finally {
      await onNode.query('ROLLBACK');
      await onNode.end();
    }
    await waitFor('the slow node', async () => (await open()).unreachable.length === 0);
  });
});

/** Returns a port on which nothing listens. */
async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
