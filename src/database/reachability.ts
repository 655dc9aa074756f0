import type { DataSource } from 'typeorm';

/** Reports whether the database answers. */
export async function isReachable(dataSource: DataSource): Promise<boolean> {
  return dataSource.query('SELECT 1').then(
    () => true,
    () => false,
  );
}
