import { Injectable } from '@nestjs/common';
import { Database } from './database';

/** Number of samples above which every second one is dropped. */
const MAX_SAMPLES = 4_000;

/** Age of the oldest snapshot, which keeps all rows that died since it was taken. */
export interface SnapshotAge {
  seconds: number;
  /** Number of transactions that began since. */
  transactions: number;
}

/** Transactions of one server. */
interface Reading {
  /** Id of the next transaction. */
  next: number;
  transactions: number | null;
  /** Seconds since the oldest transaction began, as far as this role may see it. */
  seconds: number | null;
}

/**
 * SQL that reads one server. A standby has no database, and a worker of autovacuum, whose snapshot keeps
 * nothing, no role.
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
 * Reads the age of the oldest snapshot that is held open: by a transaction, a prepared transaction, a standby
 * that reports its own, or a replication slot. Where the tables are divided over nodes, it is the oldest of
 * those on all nodes that answer.
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
 * Ids of a server's next transaction, each with the time in milliseconds at which it was read. They turn an
 * age in transactions into seconds: slots have no time, and a role without `pg_read_all_stats` sees none of
 * others.
 */
class TransactionTimes {
  private samples: { next: number; at: number }[] = [];

  add(next: number, at: number): void {
    // Another server counts otherwise.
    if (next < (this.samples.at(-1)?.next ?? 0)) this.samples = [];
    this.samples.push({ next, at });
    if (this.samples.length > MAX_SAMPLES) this.samples = this.samples.filter((_, n) => n % 2 === 0);
  }

  /** Returns the first time at which a later transaction than this one was the next. */
  findAfter(transaction: number): number | undefined {
    return this.samples.find(({ next }) => next > transaction)?.at;
  }
}
