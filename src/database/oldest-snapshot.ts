import { Injectable } from '@nestjs/common';
import { Database } from './database';

const MAX_SAMPLES = 4_000;

/** Age of the oldest open snapshot: VACUUM can't remove rows that died after it was taken. */
export interface SnapshotAge {
  seconds: number;
  /** Number of transactions that have begun since the snapshot was taken. */
  transactions: number;
}

interface Reading {
  /** Id that the server will give to its next transaction. */
  next: number;
  transactions: number | null;
  /** Age in seconds of the oldest transaction that this role may see; null if it may see none. */
  seconds: number | null;
}

/**
 * SQL that reads the oldest snapshot of one server. `datid IS NULL` includes standbys that report their
 * snapshots. `usesysid IS NOT NULL` excludes workers of autovacuum, whose snapshots do not hinder VACUUM.
 */
const READING = `
  SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS next,
         max(transactions)::float8 AS transactions, max(seconds)::float8 AS seconds
  FROM (
    SELECT greatest(age(backend_xid), age(backend_xmin)) AS transactions,
           extract(epoch FROM clock_timestamp() - xact_start) AS seconds
    FROM pg_stat_activity
    WHERE (datname = current_database() OR datid IS NULL) AND usesysid IS NOT NULL AND pid <> pg_backend_pid()
      AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)
    UNION ALL SELECT age(xmin), NULL FROM pg_replication_slots WHERE xmin IS NOT NULL
    UNION ALL
    SELECT age(transaction), extract(epoch FROM clock_timestamp() - prepared)
    FROM pg_prepared_xacts WHERE database = current_database()
  ) AS held`;

/**
 * Reads the age of the oldest snapshot that is held open: by a transaction, a prepared transaction, a
 * replication slot, or a standby that reports its snapshot. On Citus it is the oldest on all servers that
 * answer.
 */
@Injectable()
export class OldestSnapshot {
  private readonly times = new Map<number, TransactionTimes>();

  constructor(private readonly database: Database) {}

  async read(): Promise<SnapshotAge> {
    const readings = await this.database.placement.readViews<Reading>(READING);
    const ages = readings.map(({ server, ...reading }) => this.ageOn(server, reading));
    return {
      seconds: Math.max(0, ...ages.map(({ seconds }) => seconds)),
      transactions: Math.max(0, ...ages.map(({ transactions }) => transactions)),
    };
  }

  private ageOn(server: number, { next, transactions, seconds }: Reading): SnapshotAge {
    const times = this.times.get(server) ?? new TransactionTimes();
    this.times.set(server, times);
    const now = Date.now();
    times.add(next, now);
    if (transactions === null) return { seconds: 0, transactions: 0 };
    const since = times.findAfter(next - transactions) ?? now;
    return { seconds: Math.max(seconds ?? 0, (now - since) / 1000), transactions };
  }
}

/**
 * Stores ids of a server's next transaction, each with the time in milliseconds at which it was read. These
 * ids show when a transaction began where PostgreSQL does not show it: for replication slots, and for
 * transactions of other roles if this role lacks `pg_read_all_stats`.
 */
class TransactionTimes {
  private samples: { next: number; at: number }[] = [];

  add(next: number, at: number): void {
    // A lower id comes from another server. Older samples are dropped, because they can't be compared with
    // it.
    if (next < (this.samples.at(-1)?.next ?? 0)) this.samples = [];
    this.samples.push({ next, at });
    if (this.samples.length > MAX_SAMPLES) this.samples = this.samples.filter((_, n) => n % 2 === 0);
  }

  /** Returns the time, in milliseconds since 1970, of the first sample after the transaction began. */
  findAfter(transaction: number): number | undefined {
    return this.samples.find(({ next }) => next > transaction)?.at;
  }
}
