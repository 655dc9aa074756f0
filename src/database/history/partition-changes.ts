import { Injectable } from '@nestjs/common';
import { hasCitus } from '../citus/citus';
import { OwnerDatabase } from '../owner-database';
import { Day, lowestId, nameOf, PARTITION_KEYS, PartitionedTable } from './partitions';
import { Transaction } from '../transaction';

/**
 * Time that a change of partitions waits for its locks, and so the longest time that it holds others up. A
 * change that gets no lock is tried again.
 */
const LOCK_TIMEOUT_MS = 200;
/** Key of the advisory lock under which one process changes a partition; an arbitrary number. */
const PARTITION_LOCK = 7_254_140;
/** Limit of the rows that are moved out of a default partition at once: 0.1 s under its lock. */
const MAX_MOVED = 10_000;
/**
 * Storage parameter of partitions: freeze rows at the first vacuum. Rows of the history never change, so this
 * work is done once, and a partition that is only read needs no vacuum later.
 */
const STORAGE = 'autovacuum_freeze_min_age = 0';

/**
 * Result of a change of partitions. `busy`: another process is changing them now. `unchanged`: there was
 * nothing to do.
 */
export type PartitionChange = 'done' | 'unchanged' | 'busy';

/** Thrown when the default partition holds too many rows of a day to move them at once. */
export class TooManyDefaultRows extends Error {}

/**
 * Creates and drops partitions of the history, as their owner. Each change is one transaction that waits at
 * most 200 ms for its locks, because later statements wait behind it. The first partitions are made by
 * `migrations/support/partitions.ts` with a copy of these rules: a migration imports nothing of the service,
 * so that it always does the same.
 */
@Injectable()
export class PartitionChanges {
  constructor(private readonly database: OwnerDatabase) {}

  /** Creates a day's table, which no query sees before it is attached. */
  create(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { exists }) => {
      if (exists) return 'unchanged';
      await tx.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (${STORAGE})`);
      // Rows that a table gets before it is distributed would stay on the coordinator's disk, too.
      if (await hasCitus(tx))
        await tx.query(`SELECT create_distributed_table($1, 'tenant_id', colocate_with => $2)`, [
          name,
          table,
        ]);
      return 'done';
    });
  }

  /**
   * Attaches the day's table, and moves the day's rows from the default partition to it.
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

  /**
   * Detaches a day's table. Not CONCURRENTLY, which PostgreSQL refuses for a table with a default partition.
   */
  detach(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { isAttached }) => {
      if (!isAttached) return 'unchanged';
      await tx.query(`ALTER TABLE ${table} DETACH PARTITION ${name}`);
      return 'done';
    });
  }

  drop(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { exists, isAttached }) => {
      if (!exists || isAttached) return 'unchanged';
      await tx.query(`DROP TABLE ${name}`);
      return 'done';
    });
  }

  /**
   * Runs one change while no other process changes partitions, after another look, under the lock, at the
   * partitions that exist.
   */
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
      `SELECT count(*)::integer FROM (SELECT 1 FROM ${table}_default WHERE ${ofDay} LIMIT ${MAX_MOVED + 1}) AS r`,
      bounds,
    );
    if (found!.count > MAX_MOVED)
      throw new TooManyDefaultRows(`${table}_default has more than ${MAX_MOVED} rows of the day of ${name}`);
    if (found!.count === 0) return;
    await tx.query(`LOCK TABLE ${table}_default IN ACCESS EXCLUSIVE MODE`);
    await tx.query(`INSERT INTO ${name} SELECT * FROM ${table}_default WHERE ${ofDay}`, bounds);
    await tx.query(`DELETE FROM ${table}_default WHERE ${ofDay}`, bounds);
  }
}

interface PartitionState {
  exists: boolean;
  isAttached: boolean;
}
