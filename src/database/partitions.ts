import { Injectable } from '@nestjs/common';
import { Database } from './database';
import { Transaction } from './transaction';

const DAY_MS = 24 * 60 * 60 * 1000;
/** All that a change of partitions makes others wait. It is tried again. */
const LOCK_TIMEOUT_MS = 200;
/** An arbitrary key: the process with this advisory lock changes a partition. */
const PARTITION_LOCK = 7_254_140;
/** Moved out of a default partition under its lock: 0.1 s. */
const MAX_MOVED = 10_000;
/** Counting more rows of a default partition costs time, and says no more. */
const MAX_COUNTED = 1_000;
/**
 * Rows of the history are written once, so freezing them early is never in vain: a partition that is read only has no
 * vacuum before it any more.
 */
const STORAGE = 'autovacuum_freeze_min_age = 0';

/** The history, partitioned by the day of its ids, and the column that it is partitioned by. */
const KEYS = { webhook_attempts: 'delivery_id', webhook_deliveries: 'id', events: 'id' } as const;

export type PartitionedTable = keyof typeof KEYS;
/** What refers to another table stands before it. */
export const PARTITIONED_TABLES = Object.keys(KEYS) as PartitionedTable[];

/** A day in UTC, counted from 1970. */
export type Day = number;

export interface Partition {
  table: PartitionedTable;
  day: Day;
  isAttached: boolean;
}

/** `busy`: another process changes partitions now. `unchanged`: it was so already. */
export type PartitionChange = 'done' | 'unchanged' | 'busy';

/** Thrown for a day whose rows are in the default partition, and are too many to be moved at once. */
export class TooManyDefaultRows extends Error {}

/**
 * The partitions of the history. Each change is one transaction that waits 200 ms for its locks at most, because what
 * comes after it waits for them too. The first partitions and their rule are also in `migrations/support/partitions.ts`:
 * a migration imports nothing of the service, so that it does the same for ever.
 */
@Injectable()
export class Partitions {
  constructor(private readonly database: Database) {}

  /** By the database's clock. */
  async today(): Promise<Day> {
    const [row] = await this.database.query<{ day: Day }>(
      'SELECT floor(extract(epoch FROM now()) / 86400)::integer AS day',
    );
    return row!.day;
  }

  /** The partitions of days, also those that are not attached yet or no longer. */
  async list(): Promise<Partition[]> {
    const rows = await this.database.query<{ name: string; isAttached: boolean }>(
      `SELECT c.relname AS name, EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid) AS "isAttached"
       FROM pg_class c
       WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'events'::regclass)
         AND c.relkind = 'r' AND c.relname ~ $1
       ORDER BY c.relname`,
      [`^(${PARTITIONED_TABLES.join('|')})_[0-9]{8}$`],
    );
    return rows.map(({ name, isAttached }) => ({ ...parseName(name), isAttached }));
  }

  /** Makes the table, which nobody sees before it is attached. */
  create(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { exists }) => {
      if (exists) return 'unchanged';
      await tx.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (${STORAGE})`);
      return 'done';
    });
  }

  /**
   * Attaches the day's table, with the day's rows of the default partition.
   * @throws TooManyDefaultRows
   */
  attach(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { exists, isAttached }) => {
      if (!exists || isAttached) return 'unchanged';
      const bounds = [lowestId(day), lowestId(day + 1)];
      await this.moveDefaultRows(tx, table, name, bounds);
      await tx.query(
        `ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM ('${bounds[0]}') TO ('${bounds[1]}')`,
      );
      return 'done';
    });
  }

  /** Not CONCURRENTLY: PostgreSQL refuses that beside a default partition. */
  detach(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { isAttached }) => {
      if (!isAttached) return 'unchanged';
      await tx.query(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
      return 'done';
    });
  }

  /** Drops a table that is not attached. */
  drop(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { exists, isAttached }) => {
      if (!exists || isAttached) return 'unchanged';
      await tx.query(`DROP TABLE ${name}`);
      return 'done';
    });
  }

  /** Rows that no partition of a day took, counted to 1,000. There should be none. */
  async countDefaultRows(): Promise<Record<PartitionedTable, number>> {
    const [row] = await this.database.query<Record<PartitionedTable, number>>(
      `SELECT ${PARTITIONED_TABLES.map(
        (table) =>
          `(SELECT count(*)::integer FROM (SELECT FROM ${table}_default LIMIT ${MAX_COUNTED}) AS r) AS ${table}`,
      ).join()}`,
    );
    return row!;
  }

  /** The days of some of those rows. */
  async daysOfDefaultRows(): Promise<Day[]> {
    const rows = await this.database.query<{ id: string }>(
      PARTITIONED_TABLES.map(
        (table) => `(SELECT ${KEYS[table]} AS id FROM ${table}_default LIMIT ${MAX_COUNTED})`,
      ).join(' UNION ALL '),
    );
    return [...new Set(rows.map(({ id }) => dayOf(id)))].sort((a, b) => a - b);
  }

  /** One process at a time changes partitions, and looks again under the lock at what there is. */
  private change(
    table: PartitionedTable,
    day: Day,
    work: (tx: Transaction, name: string, now: PartitionState) => Promise<PartitionChange>,
  ): Promise<PartitionChange> {
    const name = nameOf(table, day);
    return this.database.transaction(async (tx) => {
      await tx.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      const [lock] = await tx.query<{ isOurs: boolean }>(
        `SELECT pg_try_advisory_xact_lock(${PARTITION_LOCK}) AS "isOurs"`,
      );
      if (!lock!.isOurs) return 'busy';
      const [now] = await tx.query<PartitionState>(
        `SELECT to_regclass($1) IS NOT NULL AS "exists",
                EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass($1)) AS "isAttached"`,
        [name],
      );
      return work(tx, name, now!);
    });
  }

  private async moveDefaultRows(
    tx: Transaction,
    table: PartitionedTable,
    name: string,
    bounds: string[],
  ): Promise<void> {
    const ofDay = `${KEYS[table]} >= $1 AND ${KEYS[table]} < $2`;
    const [found] = await tx.query<{ count: number }>(
      `SELECT count(*)::integer FROM (SELECT FROM ${table}_default WHERE ${ofDay} LIMIT ${MAX_MOVED + 1}) AS r`,
      bounds,
    );
    if (found!.count > MAX_MOVED)
      throw new TooManyDefaultRows(`${table}_default has more than ${MAX_MOVED} rows of the day of ${name}`);
    if (found!.count === 0) return;
    await tx.query(`LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE`);
    await tx.query(
      `WITH moved AS (DELETE FROM ${table}_default WHERE ${ofDay} RETURNING *)
       INSERT INTO ${name} SELECT * FROM moved`,
      bounds,
    );
  }
}

interface PartitionState {
  exists: boolean;
  isAttached: boolean;
}

/** The lowest id of a day, of any version: where its partition begins. */
export function lowestId(day: Day): string {
  const hex = (day * DAY_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

function dayOf(id: string): Day {
  return Math.floor(parseInt(id.slice(0, 13).replace('-', ''), 16) / DAY_MS);
}

export function startOf(day: Day): Date {
  return new Date(day * DAY_MS);
}

/** As in `events_20261122`. */
export function nameOf(table: PartitionedTable, day: Day): string {
  return `${table}_${startOf(day).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function parseName(name: string): { table: PartitionedTable; day: Day } {
  const [, table, year, month, day] = /^(.+)_(\d{4})(\d\d)(\d\d)$/.exec(name)!;
  return { table: table as PartitionedTable, day: Date.UTC(+year!, +month! - 1, +day!) / DAY_MS };
}
