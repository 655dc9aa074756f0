import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppError } from '../common/app-error';
import { groupByWorkspace, partsOf } from '../common/group-by';
import { Config } from '../config/config';
import { hasCitus } from './citus/citus';
import { Nodes } from './citus/nodes';
import { isStatementRefused, isWorkspaceUnknown } from './driver/database-errors';
import type { PoolClient } from 'pg';
import { DatabaseClient } from './driver/database-client';
import { DatabasePool, poolOf } from './driver/database-pool';
import { PipelinedReads } from './driver/pipelined-reads';
import { OpenTransaction } from './open-transaction';
import { OneServer } from './placement/one-server';
import { Placement } from './placement/placement';
import { ReadKind, settingsFor } from './planner-settings';
import { SharedReads } from './shared-reads';
import { Transaction } from './transaction';

/** The data source has a name, because an application that embeds the service may use the unnamed one. */
export const DATA_SOURCE = 'messaging';

/** Runs single statements outside transactions, and opens every transaction. */
export class Database {
  private readonly logger = new Logger(Database.name);
  private readonly pipelinedReads = new PipelinedReads((work) => this.onConnection(work));
  private readonly polledReads = new SharedReads((work) => this.orderedTransaction(work));
  readonly placement: Placement;
  private readonly settings: Record<ReadKind, string[]>;

  /** Whether one statement may read or write rows of several workspaces. */
  readonly spansWorkspaces: boolean;

  /** @param isDivided whether the tables are divided over the nodes of Citus */
  constructor(
    private readonly dataSource: DataSource,
    { crossWorkspaceBatches }: Pick<Config, 'crossWorkspaceBatches'>,
    isDivided: boolean,
  ) {
    this.placement = isDivided ? new Nodes(this, this.pool.options.max) : new OneServer(this);
    this.spansWorkspaces = crossWorkspaceBatches && this.placement.mixesWorkspaces;
    const settingsOf = (kind: ReadKind) => this.placement.settingsOf(settingsFor(kind));
    this.settings = {
      queue: settingsOf('queue'),
      ordered: settingsOf('ordered'),
      indexed: settingsOf('indexed'),
    };
  }

  /** Makes the database of an open data source, after a query that finds out whether the server has Citus. */
  static async forDataSource(
    dataSource: DataSource,
    config: Pick<Config, 'crossWorkspaceBatches'>,
  ): Promise<Database> {
    return new Database(dataSource, config, await hasCitus(dataSource));
  }

  /** TypeORM's own connection pool, for uses for which TypeORM has no method. */
  get pool(): DatabasePool {
    return poolOf(this.dataSource);
  }

  /** Makes the pool replace each open connection by a new one before the connection is used again. */
  renewConnections(): void {
    this.pool.renew();
  }

  /** Runs a statement outside transactions, on a connection of the pool and without TypeORM. */
  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const statement = this.placement.writeStatement(sql, parameters);
    return (await this.onConnection((client) => client.runStatement<Row>(...statement))).rows;
  }

  /** Runs, outside transactions, a prepared statement: each connection parses and plans it only once. */
  async prepared<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const statement = this.placement.writeStatement(sql, parameters);
    return (await this.onConnection((client) => client.runPrepared<Row>(...statement))).rows;
  }

  /**
   * Runs a prepared statement outside transactions. PostgreSQL cancels it after `timeoutMs` milliseconds,
   * with an error for which `isStatementTimeout` returns true.
   */
  async preparedWithin<Row>(timeoutMs: number, sql: string, parameters: unknown[]): Promise<Row[]> {
    const statement = this.placement.writeStatement(sql, parameters);
    const run = (client: DatabaseClient) => client.runPreparedWithin<Row>(timeoutMs, ...statement);
    return (await this.onConnection(run)).rows;
  }

  /**
   * Runs a prepared statement that writes as a transaction of its own. Use it on one server only, because
   * Citus may run the parts of such a statement one after the other.
   * @param makeParameters returns the parameters. It is called when a connection is free, so that no id or
   *   time in them is old before the statement is sent.
   */
  async preparedWrite<Row>(sql: string, makeParameters: () => unknown[]): Promise<Row[]> {
    const run = (client: DatabaseClient) => client.runPrepared<Row>(sql, makeParameters());
    return (await this.onConnection(run, isStatementRefused)).rows;
  }

  /**
   * Runs a prepared read that must be fast; its first parameter is the id of its workspace. On one server,
   * all such reads of one tick of the event loop use one connection, one after the other. On Citus, each read
   * uses a connection of its own, within the workspace's limit of connections, because a node may hang.
   */
  async pipelinedRead<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    if (!this.placement.mixesWorkspaces)
      return this.placement.forWorkspace(parameters[0] as string, () => this.prepared<Row>(sql, parameters));
    return (await this.pipelinedReads.runPrepared(sql, parameters)).rows as Row[];
  }

  /**
   * Runs a prepared read of rows of several workspaces. Returns null if a statement may serve only one
   * workspace. Then the caller must read the workspaces one by one, or do without the rows.
   */
  async preparedAcross<Row>(sql: string, parameters: unknown[]): Promise<Row[] | null> {
    return this.spansWorkspaces ? this.prepared<Row>(sql, parameters) : null;
  }

  /** Returns the number of workspaces that one statement may serve, at most `limit`. */
  workspacesAtOnce(limit: number): number {
    return this.spansWorkspaces ? limit : 1;
  }

  /** Returns the key by which work is batched: items of workspaces with the same key may be in one batch. */
  batchKeyOf(tenantId: string): string {
    return this.spansWorkspaces ? '' : tenantId;
  }

  /** Splits items into batches of at most `size`. One statement may serve all items of a batch. */
  batchesOf<T extends { tenantId: string }>(items: T[], size: number): T[][] {
    const groups = this.spansWorkspaces ? [items] : [...groupByWorkspace(items).values()];
    return groups.flatMap((group) => partsOf(group, size));
  }

  /**
   * Calls `work` for each batch of items; each call uses one connection. On one server the calls run one
   * after the other. On Citus they run at the same time, because a node may hang. A failed call does not stop
   * the other calls.
   * @param onFailure receives the error of a call, and its batch
   */
  async workInBatches<T extends { tenantId: string }>(
    items: T[],
    size: number,
    work: (batch: T[]) => Promise<void>,
    onFailure: (error: Error, batch: T[]) => void,
  ): Promise<void> {
    const begin = (batch: T[]) =>
      this.placement
        .forWorkspace(batch[0]!.tenantId, () => work(batch))
        .catch((error: Error) => onFailure(error, batch));
    const batches = this.batchesOf(items, size);
    if (!this.placement.mixesWorkspaces) await Promise.all(batches.map(begin));
    else for (const batch of batches) await begin(batch);
  }

  /**
   * Runs `work` in one transaction. If `work` or a pipelined statement (one sent without waiting for its
   * answer) fails, everything is rolled back; otherwise everything commits. `work` that only pipelines
   * statements need not be asynchronous.
   * @throws DatabaseUnavailable when the transaction can't begin; AppError NOT_FOUND when a row names an
   *   unknown workspace; otherwise the first error
   */
  transaction<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    return this.inTransaction((tx) => tx.runWork(work));
  }

  private async inTransaction<T>(run: (tx: OpenTransaction) => Promise<T>): Promise<T> {
    const client = (await this.pool.connect()) as PoolClient & DatabaseClient;
    // A coordinator of Citus needs BEGIN, so that it runs the settings and the statements on one connection.
    const tx = new OpenTransaction(client, this.placement.writeStatement, !this.placement.mixesWorkspaces);
    let value: T;
    try {
      value = await run(tx);
    } catch (error) {
      throw isWorkspaceUnknown(error) ? AppError.notFound('Workspace') : error;
    } finally {
      client.release(tx.isOver ? undefined : true);
    }
    this.runCallbacks(tx);
    return value;
  }

  /**
   * Runs `work` in a transaction whose statements read a queue (a table of waiting work) by an index. The
   * planner's statistics are ignored, because a queue may be empty at one moment and long at the next.
   * PostgreSQL ends the transaction if `work` pauses for 3 s between two statements.
   */
  queueTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transactionFor('queue', work);
  }

  /**
   * Runs a `queueTransaction` in one round trip: it commits with the statements that `work` sends at once,
   * before it first waits for an answer. `work` may send no other statement.
   */
  queuePacket<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.packetFor('queue', work);
  }

  /**
   * Runs `work` as `queueTransaction` does, and forbids the planner to sort. It is for statements that read
   * an index in its order. Otherwise the planner might read all rows of the workspace by another index, and
   * sort them.
   */
  orderedTransaction<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    return this.transactionFor('ordered', work);
  }

  /** Runs one read in an `orderedTransaction`. */
  readInOrder<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.packetFor('ordered', (tx) => tx.prepared<Row>(sql, parameters));
  }

  /** Runs one read. All such reads of one tick of the event loop use one `orderedTransaction`. */
  async poll<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.polledReads.read(sql, parameters)) as Row[];
  }

  /**
   * Runs one read in a transaction that forbids sequential scans, hash and merge joins, and JIT compilation.
   * It is for reads by an index of which PostgreSQL cannot estimate the number of rows. Without these
   * settings, PostgreSQL might read the whole table, or compile the query.
   */
  readByIndex<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.packetFor('indexed', (tx) => tx.prepared<Row>(sql, parameters));
  }

  private transactionFor<T>(kind: ReadKind, work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    return this.transaction((tx) => {
      this.applySettings(tx, kind);
      return work(tx);
    });
  }

  private packetFor<T>(kind: ReadKind, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.inTransaction((tx) =>
      tx.runPacket((opened) => {
        this.applySettings(opened, kind);
        return work(opened);
      }),
    );
  }

  private applySettings(tx: Transaction, kind: ReadKind): void {
    for (const setting of this.settings[kind]) tx.pipeline(setting, []);
  }

  /** @param isUsable reports whether the connection can be used again after an error */
  private async onConnection<T>(
    work: (client: DatabaseClient) => Promise<T>,
    isUsable: (error: unknown) => boolean = () => false,
  ): Promise<T> {
    const client = (await this.pool.connect()) as PoolClient & DatabaseClient;
    let failure: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      if (!isUsable(error)) failure = error as Error;
      throw error;
    } finally {
      // After a failure the pool closes the connection, and gives it to no other caller.
      client.release(failure);
    }
  }

  private runCallbacks(tx: OpenTransaction): void {
    try {
      tx.committed();
    } catch (error) {
      // The transaction is committed: an error of a callback must not make it look rolled back.
      this.logger.error({ err: error }, 'a callback after a commit failed');
    }
  }
}

export type Reader = Database | Transaction;
