import type { DataSource } from 'typeorm';

/** Reports whether every migration is applied. It only reads; TypeORM's own check would create its table. */
export async function areMigrationsApplied(dataSource: DataSource): Promise<boolean> {
  const [table] = await dataSource.query<{ name: string | null }[]>(
    `SELECT to_regclass('migrations') AS name`,
  );
  if (!table?.name) return false;
  const rows = await dataSource.query<{ name: string }[]>('SELECT name FROM migrations');
  const applied = new Set(rows.map(({ name }) => name));
  return dataSource.migrations.every(({ name, constructor }) => applied.has(name ?? constructor.name));
}
