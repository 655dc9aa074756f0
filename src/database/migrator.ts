import { DataSource } from 'typeorm';
import { Config } from '../config/config';
import { connectionOptions } from './data-source';

/** An arbitrary key: the process with this advisory lock migrates, the others wait. */
const MIGRATION_LOCK = 7_254_139;

/**
 * Applies every missing migration, or reverts the last one. Two processes at once are safe: the second waits and finds
 * nothing to do.
 * @returns the names of the migrations applied or reverted
 */
export async function migrate(config: Config, direction: 'up' | 'down'): Promise<string[]> {
  const options = connectionOptions(config);
  const unlimited = { statement_timeout: 0, lock_timeout: 0, idle_in_transaction_session_timeout: 0 };
  const dataSource = new DataSource({ ...options, poolSize: 2, extra: unlimited });
  await dataSource.initialize();
  try {
    const lock = dataSource.createQueryRunner();
    await lock.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    try {
      if (direction === 'up') return (await dataSource.runMigrations()).map(({ name }) => name);
      const applied = await appliedMigrations(dataSource);
      if (applied.length > 0) await dataSource.undoLastMigration();
      return applied.slice(-1);
    } finally {
      await lock.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
      await lock.release();
    }
  } finally {
    await dataSource.destroy();
  }
}

async function appliedMigrations(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  return rows.map(({ name }) => name);
}
