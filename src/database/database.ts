import { Injectable, Logger } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, EntityManager } from 'typeorm';
import { AppError } from '../common/app-error';
import { followsFromAnother, isWorkspaceUnknown } from '../common/database-errors';
import type { Pool, PoolClient } from 'pg';
import { DatabaseClient } from './database-client';
import { PipelinedReads } from './pipelined-reads';

/** Named, so that a dashboard backend that imports this service keeps its own, default data source beside it. */
export const DATA_SOURCE = 'messaging';

const LONG_STATEMENT_TIMEOUT_MS = 60_000;

/** One open transaction. Whatever writes takes it as its first argument. */
export class Transaction {
  private readonly callbacks: (() => void)[] = [];
  private readonly pipelined: Promise<{ fault?: Error }>[] = [];
  /** How it ended, once it has; a commit that was not answered counts as none. */
  readonly ended: Promise<'committed' | 'rolled back'>;
  private end!: (how: 'committed' | 'rolled back') => void;

  constructor(
    readonly manager: EntityManager,
    private readonly client: DatabaseClient,
  ) {
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.client.run<Row>(sql, parameters)).rows;
  }

  /** The same for a statement of a hot path, whose text never varies: a connection parses and plans it once. */
  async prepared<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.client.runPrepared<Row>(sql, parameters)).rows;
  }

  /**
   * Runs a prepared statement whose answer nothing depends on: it goes out with the next one, the commit at the latest,
   * and what follows is done after it. If it fails, so does the transaction.
   */
  pipeline(sql: string, parameters: unknown[]): void {
    void this.pipelineWithResult(sql, parameters);
  }

  /** The same where the answer is read after the commit. That it failed need not be heard: it is the transaction's fault. */
  pipelineWithResult<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    const answer = this.prepared<Row>(sql, parameters);
    this.pipelined.push(settle(answer));
    return answer;
  }

  /** The first fault of what was sent. Whatever was asked after it has failed for no other reason. */
  async pipelineFault(): Promise<Error | undefined> {
    return (await Promise.all(this.pipelined)).find(({ fault }) => fault)?.fault;
  }

  /** Gives the statements that follow a minute, where what they go through has no bound of its own. */
  async allowLongStatements(): Promise<void> {
    await this.query(`SET LOCAL statement_timeout = ${LONG_STATEMENT_TIMEOUT_MS}`);
    this.client.allowLongStatements(LONG_STATEMENT_TIMEOUT_MS);
  }

  /** Calls back once everything is committed, and never if it is rolled back. Nobody waits for what it starts. */
  onCommit(callback: () => void): void {
    this.callbacks.push(callback);
  }

  rolledBack(): void {
    this.end('rolled back');
  }

  committed(): void {
    this.end('committed');
    for (const callback of this.callbacks) callback();
  }
}

/** The database: single reads, and the one way to open a transaction. */
@Injectable()
export class Database {
  private readonly logger = new Logger(Database.name);
  private readonly pipelinedReads = new PipelinedReads((work) => this.onConnection(work));

  constructor(@InjectDataSource(DATA_SOURCE) private readonly dataSource: DataSource) {}

  get manager(): EntityManager {
    return this.dataSource.manager;
  }

  /** Runs a statement on a connection of its own; no layer stands between it and the caller. */
  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.onConnection((client) => client.run<Row>(sql, parameters))).rows;
  }

  /** The same for a statement of a hot path, whose text never varies: a connection parses and plans it once. */
  async prepared<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.onConnection((client) => client.runPrepared<Row>(sql, parameters))).rows;
  }

  /**
   * The same for what is answered at once, whatever there is. What is asked so in one turn of the event loop, by however
   * many requests, shares a connection, where each waits for those before it: one way there and back serves all.
   */
  async pipelinedRead<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return (await this.pipelinedReads.runPrepared(sql, parameters)).rows as Row[];
  }

  /**
   * Runs `work` in one transaction: all of it is committed, or, if it throws, none.
   * @throws AppError NOT_FOUND when it is done in a workspace that there is not
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    let tx: Transaction | undefined;
    const run = async (manager: EntityManager) => {
      tx = new Transaction(manager, (await manager.queryRunner!.connect()) as DatabaseClient);
      return work(tx);
    };
    const outcome = await settle(this.dataSource.transaction(run));
    // First what was sent: PostgreSQL rolls back what failed when it is told to commit, and calls that no error.
    const faults = [await tx?.pipelineFault(), outcome.fault].filter((fault) => fault !== undefined);
    const fault = faults.find((fault) => !followsFromAnother(fault)) ?? faults[0];
    if (fault) {
      tx?.rolledBack();
      throw isWorkspaceUnknown(fault) ? AppError.notFound('Workspace') : fault;
    }
    this.announce(tx!);
    return outcome.result as T;
  }

  private async onConnection<T>(work: (client: DatabaseClient) => Promise<T>): Promise<T> {
    const client = (await this.pool.connect()) as PoolClient & DatabaseClient;
    let fault: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      fault = error as Error;
      throw error;
    } finally {
      // A connection that has met a fault is not used again, whatever the fault was.
      client.release(fault);
    }
  }

  private get pool(): Pool {
    return (this.dataSource.driver as unknown as { master: Pool }).master;
  }

  private announce(tx: Transaction): void {
    try {
      tx.committed();
    } catch (error) {
      // The work is committed: a failed wake-up must not make it look undone. The pollers stand behind.
      this.logger.error({ err: error }, 'a callback after a commit failed');
    }
  }
}

/** What reads: the database outside a transaction, or an open one. */
export type Reader = Database | Transaction;

function settle<T>(work: Promise<T>): Promise<{ result?: T; fault?: Error }> {
  return work.then(
    (result) => ({ result }),
    (fault: Error) => ({ fault }),
  );
}
