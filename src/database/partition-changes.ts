import { Injectable } from '@nestjs/common';
import { OwnerDatabase } from './owner-database';
import { Day, lowestId, nameOf, PARTITION_KEYS, PartitionedTable } from './partitions';
import { Transaction } from './transaction';

/** All that a change of partitions makes others wait. It is tried again. */
const LOCK_TIMEOUT_MS = 200;
/** An arbitrary key: the process with this advisory lock changes a partition. */
const PARTITION_LOCK = 7_254_140;
/** Moved out of a default partition under its lock: 0.1 s. */
const MAX_MOVED = 10_000;
/**
 * Rows of the history are written once, so freezing them early is never in vain: a partition that is read only has no
 * vacuum before it any more.
 */
const STORAGE = 'autovacuum_freeze_min_age = 0';

/** `busy`: another process changes partitions now. `unchanged`: it was so already. */
export type PartitionChange = 'done' | 'unchanged' | 'busy';

/** Thrown for a day whose rows are in the default partition, and are too many to be moved at once. */
export class TooManyDefaultRows extends Error {}

/**
 * Makes and drops partitions of the history, as their owner. Each change is one transaction that waits 200 ms for its
 * locks at most, because what comes after it waits for them too. The first partitions and their rule are also in
 * `migrations/support/partitions.ts`: a migration imports nothing of the service, so that it does the same for ever.
 */
@Injectable()
export class PartitionChanges {
  constructor(private readonly database: OwnerDatabase) {}

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
    const ofDay = `${PARTITION_KEYS[table]} >= $1 AND ${PARTITION_KEYS[table]} < $2`;
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
