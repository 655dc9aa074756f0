import { waitFor } from './wait';

interface Database {
  query(sql: string): Promise<unknown[]>;
}

/**
 * Counts the statements on this database that wait for a lock. Ask by a connection outside the locking
 * transaction.
 */
export async function countLockWaits(database: Database): Promise<number> {
  const waiting = await database.query(
    'SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0',
  );
  return waiting.length;
}

/** Reports whether a statement on this database waits for a lock. */
export async function hasLockWait(database: Database): Promise<boolean> {
  return (await countLockWaits(database)) > 0;
}

export async function waitForLockWait(database: Database, what: string): Promise<void> {
  await waitFor(`${what} to wait for a lock`, () => hasLockWait(database));
}
