import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { IS_WRITING } from '../database/writing-transactions';
import { idFloor } from '../common/ids';

/** Largest difference in milliseconds between the clock that made an id and the database's. */
const CLOCK_MS = 2_500;
/**
 * Milliseconds after which a transaction of the service has ended: longer than it can be idle (30 s) and a
 * statement can last (5 s).
 */
const LONGEST_TRANSACTION_MS = 40_000;

/** SQL that reads when the oldest transaction began that has locked or written a row and still runs. */
const OLDEST = `
  SELECT extract(epoch FROM least(now(), min(xact_start)))::float8 * 1000 AS at FROM pg_stat_activity
  WHERE ${IS_WRITING} AND xact_start > now() - interval '${LONGEST_TRANSACTION_MS} milliseconds'`;

/**
 * Tells up to which time all messages are committed. A transaction begins, and locks a row, before it makes
 * the ids of messages. So once every transaction that began before a moment has ended, no message that was
 * made before it can appear any more.
 */
@Injectable()
export class SettledTime {
  /** Time of the last sample in milliseconds since 1970, by the database's clock. */
  private at: number | null = null;

  constructor(private readonly database: Database) {}

  /** Takes a sample, at every poll. */
  async sample(): Promise<void> {
    const [row] = await this.database.poll<{ at: number }>(OLDEST);
    this.at = row!.at;
  }

  /** Returns the id below which all messages are committed; null before the first sample. */
  get settledId(): string | null {
    return this.at === null ? null : idFloor(new Date(this.at - CLOCK_MS));
  }
}
