import { Injectable } from '@nestjs/common';
import { hasCitus } from '../citus/citus';
import { OwnerDatabase } from '../owner-database';
import { Day, lowestId, nameOf, PARTITION_KEYS, PartitionedTable } from './partitions';
import { Transaction } from '../transaction';

/** Milliseconds that a change of partitions waits for its locks, because other statements wait behind it. */
const LOCK_TIMEOUT_MS = 200;
/** Key of the advisory lock under which one process changes a partition; an arbitrary number. */
const PARTITION_LOCK = 7_254_140;
/** Largest number of rows that are moved out of a default partition at once, which locks it for 0.1 s. */
const MAX_MOVED = 10_000;
/** Storage parameter: the first vacuum freezes all rows. None is needed later, as rows never change. */
const STORAGE = 'autovacuum_freeze_min_age = 0';

/**
 * Result of a change of partitions. `busy`: another process is changing partitions now. `unchanged`: there
 * was nothing to do.
 */
export type PartitionChange = 'done' | 'unchanged' | 'busy';

/** Thrown when a default partition has more than 10,000 rows of a day, too many to move at once. */
export class TooManyDefaultRows extends Error {}

/**
 * Creates and drops the daily partitions of events, deliveries and attempts, as the owner of the tables. Each
 * change is one transaction that waits at most 200 ms for its locks, because later statements wait behind it.
 * `migrations/support/partitions.ts` creates the first partitions by a copy of these rules, because
 * migrations import no code of the service.
 */
@Injectable()
export class PartitionChanges {
  constructor(private readonly database: OwnerDatabase) {}

  /** Creates a day's table. No query reads the table before `attach` has attached it. */
  create(table: PartitionedTable, day: Day): Promise<PartitionChange> {
    return this.change(table, day, async (tx, name, { exists }) => {
      if (exists) return 'unchanged';
      await tx.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (${STORAGE})`);
      // Citus gets the table while it is empty, because rows would leave a copy on the coordinator's disk.
      if (await hasCitus(tx))
        await tx.query(`SELECT create_distributed_table($1, 'tenant_id', colocate_with => $2)`, [
          name,
          table,
        ]);
      return 'done';
    });
  }

  /**
   * Moves the day's rows from the default partition to the day's table, and attaches that table.
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

  /** Detaches a day's table: not CONCURRENTLY, because the parent table has a default partition. */
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

  /** Runs one change under a lock that excludes other processes; `work` receives the day's table's state. */
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
