import type { DataSource } from 'typeorm';
import { poolOf } from './database-pool';

/**
 * Returns why the database can't be used, in words that may be public; null when it answers and takes new
 * connections.
 */
export async function findDatabaseFault(dataSource: DataSource): Promise<string | null> {
  const answers = await dataSource.query('SELECT 1').then(
    () => true,
    () => false,
  );
  return (await poolOf(dataSource).findLastingFault()) ?? (answers ? null : 'is down');
}
