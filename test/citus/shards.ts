import { Client } from 'pg';
import { nodeUrlsOf, TestStores } from '../support/test-database';

/** A node that has workspaces. */
export interface WorkerNode {
  id: number;
  host: string;
  port: number;
}

/** Lists the nodes that have workspaces. */
export async function listNodes(admin: Client): Promise<WorkerNode[]> {
  const { rows } = await admin.query<WorkerNode>(
    'SELECT nodeid AS id, nodename AS host, nodeport AS port FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeid',
  );
  return rows;
}

/** Returns those of the workspaces that a node has. */
export async function workspacesOn(
  admin: Client,
  { host, port }: WorkerNode,
  tenantIds: string[],
): Promise<string[]> {
  const { rows } = await admin.query<{ id: string }>(
    `SELECT w.id FROM unnest($3::uuid[]) AS w (id)
     JOIN citus_shards s ON s.shardid = get_shard_id_for_distribution_column('workspaces', w.id)
     WHERE s.nodename = $1 AND s.nodeport = $2`,
    [host, port, tenantIds],
  );
  return rows.map((row) => row.id).sort();
}

/**
 * Locks the shards of a table that have the rows of workspaces, all of one node, until the transaction of the
 * returned client ends.
 */
export async function holdShards(
  admin: Client,
  stores: TestStores,
  { port }: WorkerNode,
  table: string,
  tenantIds: string[],
): Promise<Client> {
  const { rows } = await admin.query<{ shard: string }>(
    `SELECT DISTINCT shard_name($2::regclass, get_shard_id_for_distribution_column($2::regclass, id)) AS shard
     FROM unnest($1::uuid[]) AS w (id)`,
    [tenantIds, table],
  );
  const connectionString = nodeUrlsOf(stores).find((url) => Number(new URL(url).port) === port);
  const client = new Client({ connectionString });
  await client.connect();
  await client.query('SET citus.enable_manual_changes_to_shards = on');
  const shards = rows.map(({ shard }) => shard).join(', ');
  await client.query(`BEGIN; LOCK TABLE ${shards} IN ACCESS EXCLUSIVE MODE`);
  return client;
}
