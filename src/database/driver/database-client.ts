import { Client, type ClientConfig, types } from 'pg';
import { QueryFailedError } from 'typeorm';
import { startDeadline } from '../../common/deadlines';
import { INSUFFICIENT_PRIVILEGE } from './database-errors';
import { DatabaseHosts, Lead } from './database-hosts';
import { nameOf, Statement } from './statement';
import { StatementGroup } from './statement-group';
import { parseTimestamp, parseTimestampForJson } from './timestamp';

/** Milliseconds after which PostgreSQL cancels a statement, because an early 503 beats a late answer. */
export const STATEMENT_TIMEOUT_MS = 5_000;
/** Milliseconds after a statement's timeout for which PostgreSQL's own error is awaited. */
const GRACE_MS = 1_000;
/** SQLSTATE of a write to a server that is read-only, such as a standby. */
const READ_ONLY = '25006';

export interface Answer<Row> {
  rows: Row[];
  /** Command that the server has run, such as COMMIT or ROLLBACK. */
  command: string;
}

export interface DatabaseClientConfig extends ClientConfig {
  hosts?: DatabaseHosts;
  /** Whether prepared statements have names. Must be false for PgBouncer before 1.21 in transaction mode. */
  prepared?: boolean;
}

/**
 * Connection that detects a server that hangs, or a network that is gone. PostgreSQL ends every statement
 * within its timeout. If no answer has arrived one second after that, the connection is destroyed. pg's
 * `query_timeout` is not used, because it would return the dead connection to the pool.
 */
export class DatabaseClient extends Client {
  /** Time limit of a statement in milliseconds; zero for none. */
  private readonly usualTimeoutMs: number;
  private statementTimeoutMs: number;
  private readonly isPrepared: boolean;
  private readonly hosts: DatabaseHosts | undefined;
  private readonly lead: Lead | undefined;
  private hasRefusedName = false;
  /** Statements of this tick of the event loop, which are sent with one Sync message. */
  private group: StatementGroup | null = null;

  constructor(config: DatabaseClientConfig = {}) {
    const { hosts, prepared = true } = config;
    const lead = hosts?.lead();
    super(lead ? { ...config, connectionString: lead.url } : config);
    this.usualTimeoutMs = this.statementTimeoutMs = Number(config.statement_timeout ?? STATEMENT_TIMEOUT_MS);
    this.isPrepared = prepared;
    this.hosts = hosts;
    this.lead = lead;
    // A broken connection also emits an error event. Without a listener, it would end the process.
    this.on('error', () => undefined);
    // Set for this connection alone, because an application that embeds the service may parse otherwise.
    this.setTypeParser(types.builtins.TIMESTAMPTZ, parseTimestamp);
  }

  /**
   * Whether this connection may be used again. False if it leads to a former primary, or if it is unclear
   * which prepared statements the server knows.
   */
  get isCurrent(): boolean {
    if (this.hasRefusedName) return false;
    return !this.hosts || !this.lead || this.hosts.isCurrent(this.lead);
  }

  /**
   * Checks that a new connection leads to the primary, if the address demands the primary. It asks the
   * server, because a pooler's report may be out of date.
   * @throws Error when the server takes no writes
   */
  async requirePrimary(): Promise<void> {
    if (!this.hosts?.requiresPrimary) return;
    const { rows } = await this.runStatement<{ transaction_read_only: string }>(
      'SHOW transaction_read_only',
      [],
    );
    if (rows[0]!.transaction_read_only === 'on')
      throw Object.assign(new Error(`${this.host}:${this.port} takes no writes`), { code: READ_ONLY });
    this.hosts.found(this.lead!);
  }

  /** Adopts the higher time limit that the open transaction has set, until the transaction ends. */
  allowLongStatements(statementTimeoutMs: number): void {
    this.statementTimeoutMs = statementTimeoutMs;
  }

  /**
   * Sends a statement, and limits its time. A statement with a callback has no limit, because only TypeORM
   * sends such statements, while it connects.
   */
  override query(...statement: unknown[]): never {
    this.sendGroup();
    const answer = this.send(...statement);
    if (answer instanceof Promise) {
      const answered = this.supervise();
      answer.then(
        () => answered(),
        (error: Error) => answered(error),
      );
    }
    return answer as never;
  }

  /**
   * Runs a statement of a transaction. All statements of one tick of the event loop are sent with one Sync
   * message: the server answers them in one packet, and skips all statements after a failed one.
   */
  runGrouped<Row>(sql: string, parameters: unknown[] = []): Promise<Answer<Row>> {
    return this.addToGroup(undefined, sql, parameters);
  }

  runPreparedGrouped<Row>(sql: string, parameters: unknown[]): Promise<Answer<Row>> {
    return this.addToGroup(this.isPrepared ? nameOf(sql) : undefined, sql, parameters);
  }

  runStatement<Row>(sql: string, parameters: unknown[]): Promise<{ rows: Row[] }> {
    return this.run(undefined, sql, parameters);
  }

  /** Runs a prepared statement, parsed once per connection: a read by key takes 0.15 ms instead of 0.4 ms. */
  runPrepared<Row>(sql: string, parameters: unknown[]): Promise<{ rows: Row[] }> {
    return this.run(this.isPrepared ? nameOf(sql) : undefined, sql, parameters);
  }

  /**
   * Runs a prepared statement with a shorter time limit. It opens a transaction for this, because a pooler
   * may run the next statement on another connection. Call it only outside transactions.
   */
  async runPreparedWithin<Row>(
    timeoutMs: number,
    sql: string,
    parameters: unknown[],
  ): Promise<{ rows: Row[] }> {
    const [, answer] = await Promise.all([
      this.runStatement(`BEGIN; SET LOCAL statement_timeout = ${timeoutMs}`, []),
      this.runPrepared<Row>(sql, parameters),
      this.runStatement('COMMIT', []),
    ]);
    return answer;
  }

  /**
   * Sends a statement as an object that pg uses as it is, because pg would copy another object property by
   * property. Together with `nameOf`, this lowers the CPU time of `GET /me` from 95 µs to 89 µs, and of a
   * list from 390 µs to 293 µs.
   */
  private run<Row>(name: string | undefined, sql: string, parameters: unknown[]): Promise<{ rows: Row[] }> {
    return new Promise((resolve, reject) => {
      const query = new Statement(sql, parameters, (error, result) => {
        answered(error);
        if (!error) return resolve(result as { rows: Row[] });
        this.noteRefusal(name);
        reject(new QueryFailedError(sql, parameters, error));
      });
      this.query(Object.assign(query, { name }));
      const answered = this.supervise();
    });
  }

  /**
   * Leaves out the BEGIN of a transaction if none of its statements has been sent. PostgreSQL runs them as
   * one transaction all the same, because they end with one Sync message. Without BEGIN and COMMIT, a
   * transaction costs 25 µs less of this process's CPU time, and 5 µs less of the server's.
   * @returns a promise of the commit; null if the transaction needs a COMMIT
   */
  commitUnsent(): Promise<void> | null {
    const { group } = this;
    if (!group?.removeBegin()) return null;
    return new Promise((resolve, reject) => {
      group.onAnswered = (error) => (error ? reject(error) : resolve());
    });
  }

  private addToGroup<Row>(
    name: string | undefined,
    sql: string,
    parameters: unknown[],
  ): Promise<Answer<Row>> {
    const group = (this.group ??= this.openGroup());
    return new Promise((resolve, reject) => {
      group.add(name, sql, parameters, (error, answer) => {
        if (error) reject(new QueryFailedError(sql, parameters, error));
        else resolve(answer as Answer<Row>);
      });
    });
  }

  private openGroup(): StatementGroup {
    process.nextTick(() => this.sendGroup());
    return new StatementGroup(this);
  }

  private sendGroup(): void {
    const { group } = this;
    if (!group) return;
    this.group = null;
    this.send(group);
    const answered = this.supervise();
    const { onAnswered } = group;
    group.onAnswered = (error) => {
      answered(error);
      if (error) this.noteRefusal(group.name);
      onAnswered(error);
    };
  }

  private send(...statement: unknown[]): unknown {
    if (this.getTransactionStatus() === 'I') this.statementTimeoutMs = this.usualTimeoutMs;
    this.corkUntilNextTick();
    return super.query(...(statement as [string]));
  }

  /**
   * Marks this connection as unusable if PostgreSQL could not parse a prepared statement, because PgBouncer
   * keeps the statement's name, and would refuse it the next time.
   */
  private noteRefusal(name: string | undefined): void {
    if (name && !(name in this.parsedStatements)) this.hasRefusedName = true;
  }

  private get parsedStatements(): Record<string, string> {
    return (this.connection as unknown as { parsedStatements: Record<string, string> }).parsedStatements;
  }

  /** Sends all statements of one tick of the event loop in one packet. */
  private corkUntilNextTick(): void {
    const { stream } = this.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
  }

  /**
   * Limits the time of the statement that was just sent.
   * @returns a function that must be called when it is answered, with the error if it failed
   */
  private supervise(): (error?: Error & { code?: string }) => void {
    const timeoutMs = this.statementTimeoutMs + GRACE_MS;
    const end =
      this.statementTimeoutMs > 0 ? startDeadline(timeoutMs, () => this.destroy(timeoutMs)) : undefined;
    return (error) => {
      end?.();
      // Connections are replaced, because after a failover they may lead to the former primary.
      if (error?.code === READ_ONLY) this.hosts?.renew();
      if (error?.code === INSUFFICIENT_PRIVILEGE && this.hosts) this.hosts.hasLackedPrivilege = true;
    };
  }

  private destroy(timeoutMs: number): void {
    const error = new Error(`PostgreSQL did not answer within ${timeoutMs} ms`);
    this.connection.stream.destroy(Object.assign(error, { code: 'ETIMEDOUT' }));
  }
}

/** Connection for rows that are sent in HTTP responses, because its timestamps become JSON faster. */
export class JsonDatabaseClient extends DatabaseClient {
  constructor(config?: DatabaseClientConfig) {
    super(config);
    this.setTypeParser(types.builtins.TIMESTAMPTZ, parseTimestampForJson);
  }
}
