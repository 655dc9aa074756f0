import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Client } from 'pg';
import { freePort } from '../../scripts/processes.mjs';
import { installPackage } from '../../scripts/servers/apt.mjs';
import {
  addNode,
  joinDatabases,
  prepareNode,
  startCitus,
  startNode,
  startStandby,
} from '../../scripts/servers/citus.mjs';
import { Config } from '../../src/config/config';
import { migrate } from '../../src/database/setup/migrator';
import { makeServerContext, ServerContext, withLogs } from '../support/server-context';
import { stopTree } from '../support/process-tree';
import { environmentOf } from '../support/service-process';
import { ownRedis, TestStores } from '../support/test-database';
import { letTimePass, waitFor } from '../support/wait';

type Server = Awaited<ReturnType<typeof startNode>>;
type NodeOptions = Parameters<typeof startNode>[1];

/** Node of the rows of some workspaces, as Citus knows it. A node that takes over has the same number. */
export interface Group {
  id: number;
  nodeId: number;
}

/** Has the library change the time of day alone, so that time-outs stay as they are. */
const STEADY_TIMERS = { FAKETIME_DONT_FAKE_MONOTONIC: '1' };
/** Settings of the nodes' servers: what is committed outlives a kill, though not the end of the machine. */
const SETTINGS = {
  synchronous_commit: 'on',
  'citus.recover_2pc_interval': '2s',
};
/** Time in which rows are moved in the background. */
const REBALANCED_WITHIN_MS = 180_000;
/** Time in which Citus tells all nodes of a new address. */
const SYNCED_WITHIN_MS = 60_000;

/**
 * A coordinator and two workers of one test, which can be killed, replaced and added. Each worker may have a
 * standby.
 */
export class CitusNodes {
  private constructor(
    private readonly context: ServerContext,
    private readonly options: NodeOptions,
    private coordinator: Server,
    /** Servers of the workers, and those that follow them, by group. */
    private readonly workers: Map<number, Server>,
    private readonly standbys: Map<number, Server>,
    readonly stores: TestStores,
  ) {}

  /** Starts the servers, and makes the tables of the service. */
  static async start({ standbys: hasStandbys = false } = {}): Promise<CitusNodes> {
    const context = await makeServerContext();
    const options = { ...context, disposable: true, settings: SETTINGS };
    const coordinator = await startCitus({ ...options, port: await freePort() });
    const { databaseUrl, databaseOwnerUrl, adminUrl: databaseAdminUrl } = coordinator;
    const stores = { databaseUrl, databaseOwnerUrl, databaseAdminUrl, redisUrl: await ownRedis() };
    const nodes = new CitusNodes(context, options, coordinator, new Map(), new Map(), stores);
    await joinDatabases(coordinator.nodes, nodes.roleUrls);
    for (const worker of coordinator.workers) nodes.workers.set(await nodes.groupOf(worker), worker);
    if (hasStandbys)
      await Promise.all(
        [...nodes.workers].map(async ([group, worker]) =>
          nodes.standbys.set(group, await startStandby(`standby-${group}`, worker, options)),
        ),
      );
    await withLogs(context, () => nodes.migrate());
    return nodes;
  }

  /** Lists the groups that have rows of workspaces. */
  async groups(): Promise<Group[]> {
    return this.query<Group>(
      'SELECT groupid AS id, nodeid AS "nodeId" FROM pg_dist_node WHERE shouldhaveshards ORDER BY groupid',
    );
  }

  /** Returns the group that has the rows of a workspace. */
  async groupOfWorkspace(workspaceId: string): Promise<number> {
    const [placement] = await this.query<{ group: number }>(
      `SELECT groupid AS "group" FROM pg_dist_placement
       WHERE shardid = get_shard_id_for_distribution_column('workspaces', $1::uuid)`,
      [workspaceId],
    );
    return placement!.group;
  }

  /** Kills all processes of a worker at once. Its machine still refuses new connections. */
  killWorker({ id }: Group): Promise<void> {
    return this.kill(this.workers.get(id)!);
  }

  /** Has a worker hang for a time: its connections stay open, and nothing answers. */
  async freezeWorker({ id }: Group, ms: number): Promise<void> {
    const stopped = stopTree(this.workers.get(id)!.child.pid!);
    try {
      await letTimePass(ms);
    } finally {
      for (const pid of stopped.reverse()) process.kill(pid, 'SIGCONT');
    }
  }

  /** Makes a worker's standby a primary, and has Citus connect to it from then on. */
  async promoteStandby(group: Group): Promise<void> {
    const standby = this.standbys.get(group.id)!;
    await queryOf(standby.adminUrl, 'SELECT pg_promote()');
    this.workers.set(group.id, standby);
    this.standbys.delete(group.id);
    await this.leadTo(group, this.urlOf(group));
  }

  /** Starts a worker more, and makes it a node that has no rows yet. */
  async addWorker(): Promise<Group> {
    const { passwords } = this.coordinator;
    const worker = await startNode(`worker-${this.workers.size + 1}`, { ...this.options, passwords });
    await prepareNode(worker.adminUrl, this.roleUrls);
    await addNode(this.stores.databaseAdminUrl, worker.adminUrl);
    const id = await this.groupOf(worker);
    this.workers.set(id, worker);
    await this.migrate();
    return (await this.groups()).find((group) => group.id === id)!;
  }

  /** Moves the rows of a workspace, and of all others of its shards, to another node. */
  async move(workspaceId: string, to: Group): Promise<void> {
    const from = await this.groupOfWorkspace(workspaceId);
    const { nodeId } = (await this.groups()).find(({ id }) => id === from)!;
    await this.query(
      `SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('workspaces', $1::uuid), $2, $3, 'force_logical')`,
      [workspaceId, nodeId, to.nodeId],
    );
  }

  /** Moves rows between the nodes in the background, until each has its share. */
  async rebalance(): Promise<void> {
    await this.query(`SELECT citus_rebalance_start(shard_transfer_mode => 'force_logical')`);
    const job = await waitFor(
      'the rows to be moved',
      async () => {
        const [latest] = await this.query<{ state: string }>(
          'SELECT state FROM pg_dist_background_job ORDER BY job_id DESC LIMIT 1',
        );
        return !['scheduled', 'running'].includes(latest!.state) && latest;
      },
      REBALANCED_WITHIN_MS,
    );
    if (job.state !== 'finished') throw new Error(`The rows were not moved: the job is ${job.state}`);
  }

  /** Address of a worker itself, for the administrator. */
  urlOf({ id }: Group): URL {
    return new URL(this.workers.get(id)!.adminUrl);
  }

  /** Starts a worker again with a clock that is ahead of that of the machine. */
  async shiftClock({ id }: Group, ms: number): Promise<void> {
    const worker = this.workers.get(id)!;
    await this.kill(worker);
    const port = Number(new URL(worker.adminUrl).port);
    const env = ms === 0 ? {} : { LD_PRELOAD: findFakeTime(), FAKETIME: `+${ms / 1_000}s`, ...STEADY_TIMERS };
    const options = { ...this.options, port, env, isStandby: true };
    this.workers.set(id, await startNode(worker.name, options));
  }

  killCoordinator(): Promise<void> {
    return this.kill(this.coordinator);
  }

  /** Starts the coordinator again with its files, at its address. */
  async restartCoordinator(): Promise<void> {
    const port = Number(new URL(this.coordinator.adminUrl).port);
    this.coordinator = await startNode('coordinator', { ...this.options, port, isStandby: true });
  }

  /** Has Citus connect to another address of a node. */
  async leadTo({ nodeId }: Group, { hostname, port }: URL): Promise<void> {
    await this.query('SELECT citus_update_node($1, $2, $3)', [nodeId, hostname, Number(port)]);
  }

  /** Waits until every node knows the addresses of all. */
  async untilSynced(): Promise<void> {
    await waitFor(
      'all nodes to know their addresses',
      async () => {
        const behind = await this.query('SELECT FROM pg_dist_node WHERE NOT metadatasynced');
        return behind.length === 0;
      },
      SYNCED_WITHIN_MS,
    );
  }

  /** Runs a query on the coordinator, as administrator. */
  query<Row = Record<string, unknown>>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return queryOf(this.stores.databaseAdminUrl, sql, parameters);
  }

  /** Runs a query on a worker by itself, as administrator. */
  queryWorker<Row = Record<string, unknown>>(group: Group, sql: string): Promise<Row[]> {
    return queryOf(this.urlOf(group).href, sql);
  }

  stop(): Promise<void> {
    return this.context.reaper.finish();
  }

  /** Makes the tables, and gives the roles their settings on each node. */
  private async migrate(): Promise<void> {
    await migrate(Config.from({ ...environmentOf(this.stores, 'worker'), ROLE: 'worker' }), 'up');
  }

  private get roleUrls(): string[] {
    const { databaseUrl, databaseOwnerUrl, databaseAdminUrl } = this.stores;
    return [databaseUrl, databaseOwnerUrl!, databaseAdminUrl];
  }

  private async groupOf({ adminUrl }: Server): Promise<number> {
    const { hostname, port } = new URL(adminUrl);
    const [node] = await this.query<{ group: number }>(
      'SELECT groupid AS "group" FROM pg_dist_node WHERE nodename = $1 AND nodeport = $2',
      [hostname, Number(port)],
    );
    return node!.group;
  }

  private async kill({ child }: Server): Promise<void> {
    const exited = once(child, 'exit');
    // Stopped processes do not see another one end.
    for (const pid of stopTree(child.pid!).reverse()) process.kill(pid, 'SIGKILL');
    await exited;
    this.context.reaper.release(child);
  }
}

async function queryOf<Row>(
  connectionString: string,
  sql: string,
  parameters: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return (await client.query(sql, parameters)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Returns the path of the library that shifts the clock of a process, and installs it if need be. */
function findFakeTime(): string {
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as 'x64' | 'arm64'];
  const path = `/usr/lib/${machine}-linux-gnu/faketime/libfaketime.so.1`;
  if (!existsSync(path)) installPackage('faketime', console.log);
  if (!existsSync(path)) throw new Error(`${path} is missing: install the package "faketime"`);
  return path;
}
