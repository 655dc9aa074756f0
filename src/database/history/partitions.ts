import { Injectable } from '@nestjs/common';
import { idTime } from '../../common/ids';
import { Database } from '../database';

const DAY_MS = 24 * 60 * 60 * 1000;
/** Largest number that a count of a default partition returns, because to count more rows takes long. */
const MAX_COUNTED = 1_000;

/** Tables that are partitioned by day (UTC), each with the column of the id that contains the time. */
export const PARTITION_KEYS = {
  webhook_attempts: 'delivery_id',
  webhook_deliveries: 'id',
  events: 'id',
} as const;

export type PartitionedTable = keyof typeof PARTITION_KEYS;
/** Partitioned tables. Each comes before the tables to which its rows refer. */
export const PARTITIONED_TABLES = Object.keys(PARTITION_KEYS) as PartitionedTable[];

export const PARTITION_OF_DAY = `^(${PARTITIONED_TABLES.join('|')})_[0-9]{8}$`;

/** Day in UTC, as the number of days since 1970-01-01. */
export type Day = number;

export interface Partition {
  table: PartitionedTable;
  day: Day;
  isAttached: boolean;
}

/** Reads which daily partitions exist, and the times before which rows are old enough to be deleted. */
@Injectable()
export class Partitions {
  constructor(private readonly database: Database) {}

  async readToday(): Promise<Day> {
    const [row] = await this.database.query<{ day: Day }>(
      'SELECT floor(extract(epoch FROM now()) / 86400)::integer AS day',
    );
    return row!.day;
  }

  /**
   * Returns the time `hours` before now by the database's clock, or that day's start (UTC) if `wholeDays`.
   */
  async readCutoff(hours: number, wholeDays: boolean): Promise<string> {
    const [row] = await this.database.query<{ since: string }>(
      `SELECT (CASE WHEN $2 THEN date_trunc('day', since, 'UTC') ELSE since END)::text AS since
       FROM (SELECT now() - $1 * interval '1 hour' AS since) AS kept`,
      [hours, wholeDays],
    );
    return row!.since;
  }

  async list(): Promise<Partition[]> {
    const rows = await this.database.query<{ name: string; isAttached: boolean }>(
      `SELECT c.relname AS name, EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid) AS "isAttached"
       FROM pg_class c
       WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)
         AND c.relkind = 'r' AND c.relname ~ $1
       ORDER BY c.relname`,
      [PARTITION_OF_DAY],
    );
    return rows.map(({ name, isAttached }) => ({ ...parseName(name), isAttached }));
  }

  /** Counts the rows of each default partition, up to 1,000. Normally a default partition has no rows. */
  async countDefaultRows(): Promise<Record<PartitionedTable, number>> {
    const [row] = await this.database.query<Record<PartitionedTable, number>>(
      `SELECT ${PARTITIONED_TABLES.map(
        (table) =>
          `(SELECT count(*)::integer FROM (SELECT 1 FROM ${table}_default LIMIT ${MAX_COUNTED}) AS r) AS ${table}`,
      ).join()}`,
    );
    return row!;
  }

  /** Lists the days of up to 1,000 rows of each default partition. */
  async listDefaultDays(): Promise<Day[]> {
    const rows = await this.database.query<{ id: string }>(
      PARTITIONED_TABLES.map(
        (table) => `(SELECT ${PARTITION_KEYS[table]} AS id FROM ${table}_default LIMIT ${MAX_COUNTED})`,
      ).join(' UNION ALL '),
    );
    return [...new Set(rows.map(({ id }) => dayOf(id)))].sort((a, b) => a - b);
  }
}

/** Returns the lowest UUID of a day, at which the day's partition begins. */
export function lowestId(day: Day): string {
  const hex = (day * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function dayOf(id: string): Day {
  return Math.floor(idTime(id).getTime() / DAY_MS);
}

export function startOf(day: Day): Date {
  return new Date(day * DAY_MS);
}

/** Returns the name of a day's partition, such as `events_20261122`. */
export function nameOf(table: PartitionedTable, day: Day): string {
  return `${table}_${startOf(day).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function parseName(name: string): { table: PartitionedTable; day: Day } {
  const [, table, year, month, day] = /^(.+)_(\d{4})(\d\d)(\d\d)$/.exec(name)!;
  return { table: table as PartitionedTable, day: Date.UTC(+year!, +month! - 1, +day!) / DAY_MS };
}
