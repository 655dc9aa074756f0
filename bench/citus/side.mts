import pg from 'pg';
import type { Deployment, Server } from '../support/deployment.mts';
import type { Environment } from '../support/environment.mts';
import { itemAt } from '../support/items.mts';
import type { Sender } from '../support/offer-by-api.mts';
import { familyMs, parentOf, processorMs } from '../support/usage.mts';
import type { Clocks } from './processor.mts';

/** The fixture's own rows are not used. */
const EMPTY = { conversations: 0, otherEndpoints: 0, oldDeliveries: 0, receiving: 1 };
/** Number of the workspaces without an endpoint, and of those with one: a multiple of 1, 2 and 3 nodes. */
const WORKSPACES = 24;
/** Number of workspaces that are made, since how many of them each node gets is a matter of chance. */
const CANDIDATES = 4 * WORKSPACES;
const CONVERSATIONS = 400;

/** The service on one form of the database: on one PostgreSQL, or on Citus. */
export interface Side {
  name: string;
  deployment: Deployment;
  /** Names of the PostgreSQL servers and ids of their first processes, the coordinator's first. */
  servers: { name: string; pid: number }[];
  /** Workspaces without a webhook endpoint, and with one, as many on each node. */
  senders: { quiet: Sender[]; live: Sender[] };
}

/** Side whose processes run. `clocks` has the clocks of all processes that take part. */
export interface RunningSide extends Side {
  api: Server;
  clocks: Clocks;
}

/** Makes the database, on a coordinator and so many nodes more if there are any, and its workspaces. */
export async function makeSide(name: string, environment: Environment, nodes = 0): Promise<Side> {
  const deployment = await environment.deployment(`nodes_${nodes}`, EMPTY, nodes);
  const urls = environment.servers.databaseNodes.slice(0, 1 + nodes);
  const nameOf = (n: number) => (n > 0 ? `node ${n}` : nodes > 0 ? 'coordinator' : 'PostgreSQL');
  const servers = await Promise.all(
    urls.map(async (url, n) => ({ name: nameOf(n), pid: await serverOf(url) })),
  );
  const candidates = await deployment.addReceiving(CANDIDATES, 'live', 1, CONVERSATIONS);
  const withKeys = await deployment.addApiKeys(candidates);
  const spread = nodes > 0 ? await spreadOverNodes(deployment, withKeys) : withKeys;
  const [quiet, live] = [spread.slice(0, WORKSPACES), spread.slice(WORKSPACES, 2 * WORKSPACES)];
  const quietIds = quiet.map(({ id }) => id);
  await deployment.query('DELETE FROM webhook_endpoints WHERE tenant_id = ANY ($1)', [quietIds]);
  return { name, deployment, servers, senders: { quiet, live } };
}

/** Starts an API process and a worker. */
export async function startSide(side: Side, env: Record<string, string> = {}): Promise<RunningSide> {
  const { deployment, servers } = side;
  const [api, worker] = await Promise.all([
    deployment.startService('api', env),
    deployment.startService('worker', env),
  ]);
  const redis = Number(/^process_id:(\d+)/m.exec(await deployment.redis.info('server'))?.[1]);
  const clocks: Clocks = {
    API: () => processorMs(api.pid),
    worker: () => processorMs(worker.pid),
    Redis: () => processorMs(redis),
    'load generator': () => processorMs(process.pid),
  };
  for (const { name, pid } of servers) clocks[name] = () => familyMs(pid);
  return { ...side, api, clocks };
}

/** Returns the id of the first process of a PostgreSQL server. */
async function serverOf(connectionString: string): Promise<number> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return parentOf(itemAt(rows, 0).pid);
  } finally {
    await client.end();
  }
}

/** Orders workspaces so that the nodes take turns, and leaves out those that a node has more than others. */
async function spreadOverNodes(deployment: Deployment, senders: Sender[]): Promise<Sender[]> {
  const rows = await deployment.query<{ id: string; node: number }>(
    `SELECT id, groupid AS node
     FROM unnest($1::uuid[]) AS id
     JOIN pg_dist_placement ON shardid = get_shard_id_for_distribution_column('workspaces', id)`,
    [senders.map(({ id }) => id)],
  );
  const nodeOf = new Map(rows.map(({ id, node }) => [id, node]));
  const byNode = [...new Set(nodeOf.values())].map((node) =>
    senders.filter(({ id }) => nodeOf.get(id) === node),
  );
  const each = Math.min(...byNode.map(({ length }) => length));
  return Array.from({ length: each }, (_, n) => byNode.map((list) => itemAt(list, n))).flat();
}
