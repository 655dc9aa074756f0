import { isOnCitus } from './test-database';
import { waitFor } from './wait';

interface Database {
  query<Row>(sql: string): Promise<Row[]>;
}

const COUNT =
  'SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0';
/** Counts on all nodes of Citus: a statement waits on the one that has its rows. */
const COUNT_ON_NODES = `SELECT sum(result::bigint) AS count FROM run_command_on_all_nodes('${COUNT}')`;

/**
 * Counts the statements on this database that wait for a lock. Ask by a connection outside the locking
 * transaction.
 */
export async function countLockWaits(database: Database): Promise<number> {
  const [row] = await database.query<{ count: string }>(isOnCitus() ? COUNT_ON_NODES : COUNT);
  return Number(row!.count);
}

/** Reports whether a statement on this database waits for a lock. */
export async function hasLockWait(database: Database): Promise<boolean> {
  return (await countLockWaits(database)) > 0;
}

export async function waitForLockWait(database: Database, what: string): Promise<void> {
  await waitFor(`${what} to wait for a lock`, () => hasLockWait(database));
}
