import { isOnCitus } from './test-database';
import { waitFor } from './wait';

interface Database {
  query<Row>(sql: string): Promise<Row[]>;
}

const WAITS = `
  SELECT coalesce(json_agg(query_start ORDER BY query_start), '[]') AS result FROM pg_stat_activity
  WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`;
/** Reads of all nodes of Citus: a statement waits on the one that has its rows. */
const WAITS_ON_NODES = `SELECT result::json FROM run_command_on_all_nodes($command$${WAITS}$command$)`;

/**
 * Returns when the statements on this database that wait for a lock began. Ask by a connection outside the
 * locking transaction.
 */
export async function listLockWaits(database: Database): Promise<Date[]> {
  const rows = await database.query<{ result: string[] }>(isOnCitus() ? WAITS_ON_NODES : WAITS);
  return rows.flatMap(({ result }) => result).map((at) => new Date(at));
}

/** Counts the statements on this database that wait for a lock, as `listLockWaits` does. */
export async function countLockWaits(database: Database): Promise<number> {
  return (await listLockWaits(database)).length;
}

/** Reports whether a statement on this database waits for a lock. */
export async function hasLockWait(database: Database): Promise<boolean> {
  return (await countLockWaits(database)) > 0;
}

export async function waitForLockWait(database: Database, what: string): Promise<void> {
  await waitFor(`${what} to wait for a lock`, () => hasLockWait(database));
}
