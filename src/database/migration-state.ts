import type { DataSource } from 'typeorm';

/**
 * Reports whether every migration is applied. A process that finds no migrations to compare with reports
 * false.
 */
export async function areMigrationsApplied(dataSource: DataSource): Promise<boolean> {
  const { migrations } = dataSource;
  const applied = new Set(await listAppliedMigrations(dataSource));
  return migrations.length > 0 && migrations.every((one) => applied.has(one.name ?? one.constructor.name));
}

/**
 * Lists the names of the applied migrations, the first to be applied first. It only reads; TypeORM's own
 * check would create its table.
 */
export async function listAppliedMigrations(dataSource: DataSource): Promise<string[]> {
  const [table] = await dataSource.query<{ name: string | null }[]>(
    `SELECT to_regclass('migrations') AS name`,
  );
  if (!table?.name) return [];
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id');
  return rows.map(({ name }) => name);
}
