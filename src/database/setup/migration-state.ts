import type { DataSource } from 'typeorm';
import { hasCitus } from '../citus/citus';
import { areTablesDistributed } from '../citus/distributed-tables';

/**
 * Reports whether every migration is applied and, on Citus, every table distributed. False if this process
 * has no migrations to compare with.
 */
export async function areMigrationsApplied(dataSource: DataSource): Promise<boolean> {
  const { migrations } = dataSource;
  const applied = new Set(await listAppliedMigrations(dataSource));
  const areApplied =
    migrations.length > 0 && migrations.every((one) => applied.has(one.name ?? one.constructor.name));
  return areApplied && (!(await hasCitus(dataSource)) || (await areTablesDistributed(dataSource)));
}

/** Lists the names of the applied migrations, oldest first. It only reads; TypeORM would create its table. */
export async function listAppliedMigrations(dataSource: DataSource): Promise<string[]> {
  const [table] = await dataSource.query<{ name: string | null }[]>(
    `SELECT to_regclass('migrations') AS name`,
  );
  if (!table?.name) return [];
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  return rows.map(({ name }) => name);
}
