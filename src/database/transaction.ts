import { DatabaseClient } from './driver/database-client';
import { WriteStatement } from './placement/placement';

const LONG_STATEMENT_TIMEOUT_MS = 60_000;
/**
 * Milliseconds after which PostgreSQL ends a transaction that claims or changes targets if its process has
 * stopped between two statements. Until then the process holds up everything that waits for its locks.
 */
export const STOPPED_AFTER_MS = 3_000;
/** Time for a lock: longer than a stopped worker keeps its claims, shorter than a statement may take. */
const CLAIM_WAIT_MS = 4_500;

/**
 * A statement that was sent without waiting for its answer. It runs after everything sent before it, at the
 * latest with COMMIT. If it fails, the transaction fails with its error. It is no promise, so that no code
 * can wait for it by mistake.
 */
export class Pipelined<Row = never> {
  /**
   * Holds the result of a statement that was sent without waiting for it.
   * @param rows the returned rows; await them after the commit
   */
  constructor(readonly rows: Promise<Row[]>) {}
}

/** One open transaction. Every write takes it as its first argument. */
export abstract class Transaction {
  protected readonly callbacks: (() => void)[] = [];
  protected readonly pipelined: Promise<unknown>[] = [];
  /** Settles when the transaction has ended. A commit without an answer counts as rolled back. */
  abstract readonly ended: Promise<'committed' | 'rolled back'>;

  constructor(
    protected readonly client: DatabaseClient,
    private readonly write: WriteStatement,
  ) {}

  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.client.runGrouped<Row>(...this.write(sql, parameters))).rows;
  }

  /** Runs a statement of a hot path, whose text never varies: each connection parses and plans it once. */
  async prepared<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.client.runPreparedGrouped<Row>(...this.write(sql, parameters))).rows;
  }

  /**
   * Sends a prepared statement together with the next one, so that it costs no round trip of its own. To
   * write a message takes 2 round trips.
   */
  pipeline<Row = never>(sql: string, parameters: unknown[]): Pipelined<Row> {
    const rows = this.prepared<Row>(sql, parameters);
    this.pipelined.push(rows);
    // The transaction throws this error. Without a handler here, it would end the process.
    rows.catch(() => undefined);
    return new Pipelined(rows);
  }

  /**
   * Returns the present time by the clock of the server that the service is connected to, to the microsecond.
   * Unlike `now()`, it is after the locks that this transaction has waited for.
   */
  async readClock(): Promise<string> {
    const [row] = await this.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
    return row!.now;
  }

  /**
   * Gives the following statements of this transaction a minute instead of 5 s, for work that has no bound of
   * its own.
   */
  async allowLongStatements(): Promise<void> {
    await this.query(`SET LOCAL statement_timeout = ${LONG_STATEMENT_TIMEOUT_MS}`);
    this.client.allowLongStatements(LONG_STATEMENT_TIMEOUT_MS);
  }

  /**
   * Lets the following statements wait 4.5 s for a lock instead of 2 s, because a worker that is stopped
   * keeps the locks of its claims for 3 s. This process, too, keeps the lock no longer if it is stopped.
   */
  outlastClaimsPipelined(): Pipelined {
    this.pipeline(`SET LOCAL lock_timeout = ${CLAIM_WAIT_MS}`, []);
    return this.pipeline(`SET LOCAL idle_in_transaction_session_timeout = ${STOPPED_AFTER_MS}`, []);
  }

  /**
   * Calls back after the commit, and never after a rollback. The transaction does not wait for the callback.
   */
  onCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }
}
