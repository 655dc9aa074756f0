import { Client, type ClientConfig, Query, types } from 'pg';
import { QueryFailedError } from 'typeorm';
import { nameOf } from './prepared-statement';
import { parseTimestamp } from './timestamp';

/** A request that has not been served by then is better answered with 503 than kept waiting. */
export const STATEMENT_TIMEOUT_MS = 5_000;
/** How long PostgreSQL's own word that a statement took too long may be on its way. */
const GRACE_MS = 1_000;

/**
 * A connection that notices when nobody is at its other end. PostgreSQL ends every statement in time, so one that is
 * still unanswered a second later is waited for in vain: the server hangs, or the way to it is gone. The connection is
 * then destroyed, as if it had been cut, and so never used again. (`query_timeout`, which pg has for this, fails the
 * statement but gives its connection back to the pool, dead as it is.)
 */
export class DatabaseClient extends Client {
  private statementTimeoutMs = STATEMENT_TIMEOUT_MS;

  constructor(config?: string | ClientConfig) {
    super(config);
    // A connection that breaks says so beside the statement that fails; unheard, that would end the process.
    this.on('error', () => undefined);
    // For this connection alone: a backend that imports this service may have connections of its own.
    this.setTypeParser(types.builtins.TIMESTAMPTZ, parseTimestamp);
  }

  /** To be called where a transaction has raised its `statement_timeout`; holds until its end, as that does. */
  allowLongStatements(statementTimeoutMs: number): void {
    this.statementTimeoutMs = statementTimeoutMs;
  }

  /** Of pg's many forms, those that answer with a promise are bounded: TypeORM uses no other once it is connected. */
  override query(...statement: unknown[]): never {
    if (this.getTransactionStatus() === 'I') this.statementTimeoutMs = STATEMENT_TIMEOUT_MS;
    this.gather();
    const answer: unknown = super.query(...(statement as [string]));
    if (answer instanceof Promise) this.giveUpUnless(answer);
    return answer as never;
  }

  run<Row>(sql: string, parameters: unknown[]): Promise<{ rows: Row[] }> {
    return this.asFailed(sql, parameters, this.query({ text: sql, values: parameters }));
  }

  /** Runs a statement that this connection parses and plans once, and finds by its name from then on. */
  runPrepared<Row>(sql: string, parameters: unknown[]): Promise<{ rows: Row[] }> {
    return this.asFailed(sql, parameters, this.askNamed<Row>(nameOf(sql), sql, parameters));
  }

  /** With a query made here: of one that is described to it, pg copies the description, property by property. */
  private askNamed<Row>(name: string, sql: string, parameters: unknown[]): Promise<{ rows: Row[] }> {
    const answered = new Promise<{ rows: Row[] }>((resolve, reject) => {
      const query = new Query(sql, parameters, (error, result) => (error ? reject(error) : resolve(result)));
      this.query(Object.assign(query, { name }));
    });
    this.giveUpUnless(answered);
    return answered;
  }

  /** A statement that fails is told of as TypeORM does, whichever way it was run. */
  private asFailed<T>(sql: string, parameters: unknown[], answered: Promise<T>): Promise<T> {
    return answered.catch((error: Error) => {
      throw new QueryFailedError(sql, parameters, error);
    });
  }

  /** What is asked in one turn goes out in one packet: statements that do not wait for each other cost one way. */
  private gather(): void {
    const { stream } = this.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  private giveUpUnless(answered: Promise<unknown>): void {
    const timeoutMs = this.statementTimeoutMs + GRACE_MS;
    const timer = setTimeout(() => {
      const error = new Error(`PostgreSQL did not answer within ${timeoutMs} ms`);
      this.connection.stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
    }, timeoutMs);
    const stop = () => clearTimeout(timer);
    answered.then(stop, stop);
  }
}
