import { once } from 'node:events';
import { Client } from 'pg';
import { freePort } from '../../scripts/processes.mjs';
import { joinDatabases, startCitus, startNode, startStandby } from '../../scripts/servers/citus.mjs';
import { Config } from '../../src/config/config';
import { migrate } from '../../src/database/migrator';
import { ownPlace, Place, withLogs } from '../support/own-place';
import { stopTree } from '../support/process-tree';
import { environmentOf } from '../support/service-process';
import { ownRedis, TestStores } from '../support/test-database';
import { waitFor } from '../support/wait';

type Server = Awaited<ReturnType<typeof startNode>>;
type NodeOptions = Parameters<typeof startNode>[1];

/** Place of the rows of some workspaces, as Citus knows it. A node that takes over has the same number. */
export interface Group {
  id: number;
  nodeId: number;
}

/** Settings of the nodes' servers: what is committed outlives a kill, though not the end of the machine. */
const SETTINGS = {
  synchronous_commit: 'on',
  'citus.recover_2pc_interval': '2s',
};
/** Time in which Citus tells all nodes of a new address. */
const SYNCED_WITHIN_MS = 60_000;

/**
 * A coordinator and two workers of one test, which can be killed, replaced and added. Each worker may have a
 * standby.
 */
export class CitusNodes {
  private constructor(
    private readonly place: Place,
    private readonly options: NodeOptions,
    private coordinator: Server,
    /** Servers of the workers, and those that follow them, by group. */
    private readonly workers: Map<number, Server>,
    private readonly standbys: Map<number, Server>,
    readonly stores: TestStores,
  ) {}

  /** Starts the servers, and makes the tables of the service. */
  static async start({ standbys: hasStandbys = false } = {}): Promise<CitusNodes> {
    const place = await ownPlace();
    const options = { ...place, disposable: true, settings: SETTINGS };
    const coordinator = await startCitus({ ...options, port: await freePort() });
    const { databaseUrl, databaseOwnerUrl, adminUrl: databaseAdminUrl } = coordinator;
    const stores = { databaseUrl, databaseOwnerUrl, databaseAdminUrl, redisUrl: await ownRedis() };
    const nodes = new CitusNodes(place, options, coordinator, new Map(), new Map(), stores);
    await joinDatabases(coordinator.nodes, nodes.roleUrls);
    for (const worker of coordinator.workers) nodes.workers.set(await nodes.groupOf(worker), worker);
    if (hasStandbys)
      await Promise.all(
        [...nodes.workers].map(async ([group, worker]) =>
          nodes.standbys.set(group, await startStandby(`standby-${group}`, worker, options)),
        ),
      );
    await withLogs(place, async () => {
      await migrate(Config.from({ ...environmentOf(stores, 'worker'), ROLE: 'worker' }), 'up');
    });
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

  /** Makes a worker's standby a primary, and has Citus connect to it from then on. */
  async promoteStandby({ id, nodeId }: Group): Promise<void> {
    const standby = this.standbys.get(id)!;
    await queryOf(standby.adminUrl, 'SELECT pg_promote()');
    await this.leadTo(nodeId, new URL(standby.adminUrl));
    this.workers.set(id, standby);
    this.standbys.delete(id);
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
  async leadTo(nodeId: number, { hostname, port }: URL): Promise<void> {
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
  queryWorker<Row = Record<string, unknown>>({ id }: Group, sql: string): Promise<Row[]> {
    return queryOf(this.workers.get(id)!.adminUrl, sql);
  }

  stop(): Promise<void> {
    return this.place.reaper.finish();
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
    this.place.reaper.release(child);
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
