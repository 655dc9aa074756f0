import { DatabaseClient } from './driver/database-client';
import { WriteStatement } from './placement/placement';

const LONG_STATEMENT_TIMEOUT_MS = 60_000;
/**
 * Milliseconds after which PostgreSQL ends a transaction that claims rows, or changes an endpoint or a
 * channel connection, if its process has stopped between two statements. Until then, the transaction's locks
 * make other processes wait.
 */
export const STOPPED_AFTER_MS = 3_000;
/**
 * Milliseconds to wait for a lock that a claim may hold: more than the 3 s for which a stopped worker holds
 * its locks, and less than the 5 s that a statement may take.
 */
const CLAIM_WAIT_MS = 4_500;

/**
 * Statement of a transaction that was sent without waiting for its answer. PostgreSQL runs it after all
 * statements that were sent before it. If it fails, the transaction fails with its error. This class is no
 * promise, so that no code waits for it by mistake.
 */
export class Pipelined<Row = never> {
  /** Stores the promise of the rows that the statement returns; await it after the commit. */
  constructor(readonly rows: Promise<Row[]>) {}
}

/**
 * Runs statements in one open transaction. Every method that writes takes the transaction as first argument.
 */
export abstract class Transaction {
  protected readonly callbacks: (() => void)[] = [];
  protected readonly pipelined: Promise<unknown>[] = [];

  constructor(
    protected readonly client: DatabaseClient,
    private readonly write: WriteStatement,
  ) {}

  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.client.runGrouped<Row>(...this.write(sql, parameters))).rows;
  }

  /** Runs a prepared statement, which each connection parses and plans only once. */
  async prepared<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.client.runPreparedGrouped<Row>(...this.write(sql, parameters))).rows;
  }

  /**
   * Sends a prepared statement together with the next statement, so that it costs no round trip of its own.
   * With it, writing a message takes 2 round trips.
   */
  pipeline<Row = never>(sql: string, parameters: unknown[]): Pipelined<Row> {
    const rows = this.prepared<Row>(sql, parameters);
    this.pipelined.push(rows);
    // Without a handler here, an error would end the process. The transaction throws the error at its end.
    rows.catch(() => undefined);
    return new Pipelined(rows);
  }

  /**
   * Returns the present time, to the microsecond, of the server that the service is connected to. `now()`
   * would be the time at which the transaction began, before it waited for locks.
   */
  async readClock(): Promise<string> {
    const [row] = await this.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
    return row!.now;
  }

  /** Raises the time limit of the following statements from 5 s to 60 s, for work without a bound on rows. */
  async allowLongStatements(): Promise<void> {
    await this.query(`SET LOCAL statement_timeout = ${LONG_STATEMENT_TIMEOUT_MS}`);
    this.client.allowLongStatements(LONG_STATEMENT_TIMEOUT_MS);
  }

  /**
   * Lets the following statements wait 4.5 s for a lock instead of 2 s, because a worker that has stopped
   * holds the locks of its claims for 3 s. If this process stops, PostgreSQL ends its transaction after 3 s.
   */
  outlastClaimsPipelined(): Pipelined {
    this.pipeline(`SET LOCAL lock_timeout = ${CLAIM_WAIT_MS}`, []);
    return this.pipeline(`SET LOCAL idle_in_transaction_session_timeout = ${STOPPED_AFTER_MS}`, []);
  }

  /** Calls `callback` after the commit, and never after a rollback. */
  onCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }
}
