import { DataSource, QueryRunner } from 'typeorm';
import { AppError } from '../../common/app-error';

/**
 * Statements that drop triggers, and constraints without the workspace id, because a node of Citus can't have
 * them. On one server they stay, because processes of an older version need them.
 */
const OF_ONE_SERVER = [
  'ALTER TABLE memberships DROP CONSTRAINT IF EXISTS memberships_person_id_fkey',
  'ALTER TABLE api_keys DROP CONSTRAINT IF EXISTS api_keys_hash_key',
  'ALTER TABLE channel_connections DROP CONSTRAINT IF EXISTS channel_connections_hook_key_key',
  'DROP INDEX IF EXISTS channel_connections_account_key',
  'ALTER TABLE workspaces DROP CONSTRAINT IF EXISTS workspaces_slug_key',
  ...['workspaces', 'api_keys', 'channel_connections', 'memberships'].map(
    (table) => `DROP FUNCTION IF EXISTS ${table}_look_ups() CASCADE`,
  ),
];

/**
 * Setting of a transaction that changes tables on nodes, and then tables on the coordinator. Without it,
 * Citus refuses to change the coordinator's tables after it has changed several shards at the same time.
 */
export const ONE_SHARD_AT_A_TIME = `SET LOCAL citus.multi_shard_modify_mode = 'sequential'`;

/**
 * Name of an SQL function that searches one node for work. The coordinator calls it over a connection to the
 * node that it keeps open. Citus has no other way to send SQL that names shards over such a connection.
 */
export const NODE_SEARCH = 'search_on_node';
const NODE_SEARCH_SIGNATURE = `${NODE_SEARCH}(uuid, text, timestamptz)`;

/** Table that Citus does not know. `column` is the distribution column, or null for the coordinator. */
interface NewTable {
  name: string;
  column: string | null;
}

interface ForeignKey {
  drop: string;
  add: string;
}

/**
 * Refuses a database with Citus whose tables can't be distributed.
 * @throws AppError INVALID_BODY: the server is not the coordinator, its nodes do not know it, no node takes
 *   rows, or tables that are not distributed have rows
 */
export async function requireDistributable(dataSource: DataSource): Promise<void> {
  const [cluster] = await dataSource.query<
    {
      isCoordinator: boolean;
      knowsCoordinator: boolean;
      hasWorker: boolean;
      isDistributed: boolean;
      isEmpty: boolean;
    }[]
  >(
    `SELECT citus_is_coordinator() AS "isCoordinator",
       EXISTS (SELECT FROM pg_dist_node WHERE groupid = 0) AS "knowsCoordinator",
       EXISTS (SELECT FROM pg_dist_node WHERE shouldhaveshards AND isactive) AS "hasWorker",
       EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass('workspaces')) AS "isDistributed",
       to_regclass('workspaces') IS NULL AS "isEmpty"`,
  );
  const { isCoordinator, knowsCoordinator, hasWorker, isDistributed, isEmpty } = cluster!;
  if (!isCoordinator)
    throw fault('The address leads to a worker node of Citus: give that of the coordinator.');
  if (!knowsCoordinator)
    throw fault('The nodes of Citus do not know their coordinator: run citus_set_coordinator_host on it.');
  if (!hasWorker) throw fault('No node of Citus takes rows: run citus_add_node for each worker node.');
  if (isDistributed || isEmpty) return;
  const rows = await dataSource.query<unknown[]>('SELECT FROM workspaces LIMIT 1');
  if (rows.length > 0)
    throw fault(
      'The database was filled as one of a single server, and can’t be distributed: use a new one.',
    );
}

/**
 * Distributes the tables that Citus does not know yet. It uses one transaction, so that a run that is killed
 * changes nothing. `workspaces` and all tables whose key begins with the workspace id are distributed by that
 * id, in one co-location group. The other tables stay on the coordinator, but Citus registers them, so that a
 * transaction over them and a node commits on both or on neither. It also adds the function `NODE_SEARCH`.
 */
export async function distributeTables(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    const tables = await listNewTables(runner);
    const isSearchable = await hasNodeSearch(runner);
    if (tables.length === 0 && isSearchable) return;
    await runner.startTransaction();
    if (tables.length > 0) await distribute(runner, tables);
    if (!isSearchable) await addNodeSearch(runner);
    await runner.commitTransaction();
  } catch (error) {
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  } finally {
    await runner.release();
  }
}

async function distribute(runner: QueryRunner, tables: NewTable[]): Promise<void> {
  await runner.query(ONE_SHARD_AT_A_TIME);
  for (const statement of OF_ONE_SERVER) await runner.query(statement);
  // Foreign keys are dropped meanwhile, because an undistributed table must not refer to a distributed one.
  const keys = await listForeignKeys(runner, tables);
  for (const { drop } of keys) await runner.query(drop);
  for (const { name, column } of tables) {
    if (column === null) await runner.query('SELECT citus_add_local_table_to_metadata($1)', [name]);
    else
      await runner.query('SELECT create_distributed_table($1, $2, colocate_with => $3)', [
        name,
        column,
        name === 'workspaces' ? 'none' : 'workspaces',
      ]);
  }
  for (const { add } of keys) await runner.query(add);
}

async function addNodeSearch(runner: QueryRunner): Promise<void> {
  await runner.query(
    `CREATE OR REPLACE FUNCTION ${NODE_SEARCH}(workspace_id uuid, search text, present timestamptz) RETURNS text
     STABLE LANGUAGE plpgsql AS $$
     DECLARE found text;
     BEGIN EXECUTE search INTO found USING present; RETURN found; END $$`,
  );
  await runner.query(
    `SELECT create_distributed_function($1::regprocedure, 'workspace_id', colocate_with => 'workspaces')`,
    [NODE_SEARCH_SIGNATURE],
  );
}

/** Reports whether Citus knows all tables and the function `NODE_SEARCH`. */
export async function areTablesDistributed(dataSource: DataSource): Promise<boolean> {
  return (await listNewTables(dataSource)).length === 0 && (await hasNodeSearch(dataSource));
}

async function hasNodeSearch(runner: QueryRunner | DataSource): Promise<boolean> {
  const found = (await runner.query(
    `SELECT FROM pg_dist_object WHERE classid = 'pg_proc'::regclass AND objid = to_regprocedure($1)
       AND distribution_argument_index IS NOT NULL`,
    [NODE_SEARCH_SIGNATURE],
  )) as unknown[];
  return found.length > 0;
}

/** Lists the tables that Citus does not know, `workspaces` first, without partitions. */
function listNewTables(runner: QueryRunner | DataSource): Promise<NewTable[]> {
  return runner.query(
    `SELECT quote_ident(c.relname) AS name,
       CASE WHEN c.relname = 'workspaces' THEN 'id' WHEN a.attname = 'tenant_id' THEN 'tenant_id' END AS column
     FROM pg_class home
     JOIN pg_class c ON c.relnamespace = home.relnamespace AND c.relowner = home.relowner
     LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
     WHERE home.oid = to_regclass('migrations') AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.oid <> home.oid
       AND NOT EXISTS (SELECT FROM pg_dist_partition d WHERE d.logicalrelid = c.oid)
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
     ORDER BY c.relname <> 'workspaces', c.relname`,
  ) as Promise<NewTable[]>;
}

function listForeignKeys(runner: QueryRunner, tables: NewTable[]): Promise<ForeignKey[]> {
  return runner.query(
    `SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
       format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS add
     FROM pg_constraint
     WHERE contype = 'f' AND conparentid = 0 AND (conrelid = ANY ($1::regclass[]) OR confrelid = ANY ($1::regclass[]))
     ORDER BY 1, 2`,
    [tables.map(({ name }) => name)],
  ) as Promise<ForeignKey[]>;
}

function fault(message: string): AppError {
  return new AppError('INVALID_BODY', `${message} Nothing was changed.`);
}

/**
 * Runs work that needs every node of Citus.
 * @throws AppError UNAVAILABLE when a node does not answer; otherwise the error of the work
 */
export async function onAllNodes<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const [message = ''] = (error as Error).message.split('\n');
    if (!/connection to the remote node/.test(message)) throw error;
    throw new AppError(
      'UNAVAILABLE',
      `A node of Citus does not answer: ${message}. The migrations before it stay applied. ` +
        'Run "migrate" again when the node is back.',
    );
  }
}
