import { QueryRunner } from 'typeorm';

const DAY_MS = 24 * 60 * 60 * 1000;
/**
 * Days for which partitions are made ahead. A worker makes the later ones, with the names, bounds and storage
 * of `src/database/history/partitions.ts`.
 */
const DAYS_AHEAD = 8;
/**
 * Storage parameter of partitions: freeze rows at the first vacuum. They are written once, so they need no
 * freezing later.
 */
const STORAGE = 'autovacuum_freeze_min_age = 0';

/**
 * Partitions a table by the day of its ids, whose high bits are milliseconds since 1970. The default
 * partition takes rows of any other day, so that a missing partition loses nothing.
 */
export async function createPartitions(db: QueryRunner, table: string): Promise<void> {
  await db.query(`CREATE TABLE ${table}_default PARTITION OF ${table} DEFAULT`);
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
  for (let day = today - DAY_MS; day <= today + DAYS_AHEAD * DAY_MS; day += DAY_MS) {
    const name = new Date(day).toISOString().slice(0, 10).replaceAll('-', '');
    await db.query(`
      CREATE TABLE ${table}_${name} PARTITION OF ${table}
      FOR VALUES FROM ('${lowestId(day)}') TO ('${lowestId(day + DAY_MS)}') WITH (${STORAGE})`);
  }
}

/** Returns the lowest UUID of a moment, of any version. */
function lowestId(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
