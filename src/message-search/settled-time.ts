import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { idFloor } from '../common/ids';

/** Largest difference in milliseconds between the clock that made an id and the database's. */
const CLOCK_MS = 2_500;
/**
 * Milliseconds after which a transaction of the service has ended: longer than it can be idle (30 s) and a
 * statement can last (5 s).
 */
const LONGEST_TRANSACTION_MS = 40_000;

interface Sample {
  /** Time of the sample in milliseconds since 1970, by the database's clock. */
  at: number;
  /** Number of the oldest transaction that runs, and of the next one. */
  oldest: number;
  next: number;
}

/** SQL of a sample by the numbers of transactions. */
const BY_NUMBERS = `
  SELECT extract(epoch FROM now())::float8 * 1000 AS at, pg_snapshot_xmin(snapshot)::text::float8 AS oldest,
         pg_snapshot_xmax(snapshot)::text::float8 AS next
  FROM pg_current_snapshot() AS snapshot`;
/**
 * SQL of a sample by the times at which transactions began. Where nodes write the rows, a transaction has no
 * number on the server that the service is connected to, but holds the lock of each table in which it has
 * locked or written a row. The sample is as old as the oldest such transaction that runs.
 */
const BY_TIMES = `
  SELECT extract(epoch FROM least(now(), min(xact_start)))::float8 * 1000 AS at, 0 AS oldest, 0 AS next
  FROM pg_stat_activity
  WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()
    AND xact_start > now() - interval '${LONGEST_TRANSACTION_MS} milliseconds'
    AND pid IN (SELECT pid FROM pg_locks WHERE mode IN ('RowShareLock', 'RowExclusiveLock'))`;

/**
 * Tells up to which time all messages are committed. A transaction begins, and locks a row, which gives it
 * its number, before it makes the ids of messages. So once every transaction of a moment has ended, no
 * message that was made before it can appear any more.
 */
@Injectable()
export class SettledTime {
  private samples: Sample[] = [];

  constructor(private readonly database: Database) {}

  /** Takes a sample, at every poll. */
  async sample(): Promise<void> {
    const [row] = await this.database.poll<Sample>(this.database.isDivided ? BY_TIMES : BY_NUMBERS);
    // Another server counts otherwise.
    if (row!.next < (this.samples.at(-1)?.next ?? 0)) this.samples = [];
    this.samples.push(row!);
    this.samples = this.samples.filter(({ at }) => at >= row!.at - LONGEST_TRANSACTION_MS);
  }

  /** Returns the id below which all messages are committed; null before the first sample. */
  get settledId(): string | null {
    const last = this.samples.at(-1);
    if (!last) return null;
    const settled = this.samples.findLast(({ next }) => next <= last.oldest);
    const at = Math.max(settled?.at ?? 0, last.at - LONGEST_TRANSACTION_MS);
    return idFloor(new Date(at - CLOCK_MS));
  }
}
