import { waitFor } from './wait';

interface Database {
  query(sql: string): Promise<unknown[]>;
}

/**
 * Reports whether a statement on this database waits for a lock. Ask by a connection outside the locking
 * transaction.
 */
export async function hasLockWait(database: Database): Promise<boolean> {
  const waiting = await database.query(
    'SELECT FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0',
  );
  return waiting.length > 0;
}

export async function waitForLockWait(database: Database, what: string): Promise<void> {
  await waitFor(`${what} to wait for a lock`, () => hasLockWait(database));
}
