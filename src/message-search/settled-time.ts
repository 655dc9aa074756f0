import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { IS_WRITING } from '../database/writing-transactions';
import { idFloor } from '../common/ids';
import { MAX_ID_AGE_MS } from '../messages/unlocked-sends.repository';

/**
 * Largest difference in milliseconds between the clock that made an id and the database's clock. It is longer
 * than `MAX_ID_AGE_MS`: a message's id may be so much older than the statement that inserts it.
 */
const CLOCK_MS = MAX_ID_AGE_MS + 500;
/**
 * Milliseconds after which every transaction has ended, because it may be idle for at most 30 s, and a
 * statement may take at most 5 s.
 */
const LONGEST_TRANSACTION_MS = 40_000;

/**
 * SQL that reads the start of the oldest running transaction that has locked or written a row, or else
 * `now()`.
 */
const OLDEST = `
  SELECT extract(epoch FROM least(now(), min(xact_start)))::float8 * 1000 AS at FROM pg_stat_activity
  WHERE ${IS_WRITING} AND xact_start > now() - interval '${LONGEST_TRANSACTION_MS} milliseconds'`;

/**
 * Determines the id below which all messages are committed. A transaction begins, and locks a row, before it
 * makes ids of messages; the statement of `UnlockedSendsRepository` inserts no id that is older than
 * `MAX_ID_AGE_MS`. So when every transaction that began before a time has ended, no message with an id from
 * before this time, by more than `CLOCK_MS`, can appear.
 */
@Injectable()
export class SettledTime {
  /** Start of the oldest running transaction when `sample` was called last, in milliseconds since 1970. */
  private at: number | null = null;

  constructor(private readonly database: Database) {}

  /** Reads the start of the oldest running transaction. Called at each search for new messages. */
  async sample(): Promise<void> {
    const [row] = await this.database.poll<{ at: number }>(OLDEST);
    this.at = row!.at;
  }

  /** Id below which all messages are committed; null before the first call of `sample`. */
  get settledId(): string | null {
    return this.at === null ? null : idFloor(new Date(this.at - CLOCK_MS));
  }
}
