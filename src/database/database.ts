import { Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppError } from '../common/app-error';
import { groupByWorkspace, partsOf } from '../common/group-by';
import { Config } from '../config/config';
import { hasCitus } from './citus/citus';
import { Nodes } from './citus/nodes';
import { isWorkspaceUnknown } from './driver/database-errors';
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

/**
 * Name of the service's data source, so that a dashboard backend that imports this service keeps its own
 * default one.
 */
export const DATA_SOURCE = 'messaging';

/** Runs single reads outside a transaction, and is the one way to open a transaction. */
export class Database {
  private readonly logger = new Logger(Database.name);
  private readonly pipelinedReads = new PipelinedReads((work) => this.onConnection(work));
  private readonly polledReads = new SharedReads((work) => this.orderedTransaction(work));
  /** Placement of the workspaces that the database has. */
  readonly placement: Placement;
  private readonly settings: Record<ReadKind, string[]>;

  /** Whether one statement may serve several workspaces. */
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

  /** Returns the database of an open data source, which it asks whether it is one of a cluster of Citus. */
  static async forDataSource(
    dataSource: DataSource,
    config: Pick<Config, 'crossWorkspaceBatches'>,
  ): Promise<Database> {
    return new Database(dataSource, config, await hasCitus(dataSource));
  }

  /** Connections behind TypeORM, for uses that TypeORM has no method for. */
  get pool(): DatabasePool {
    return poolOf(this.dataSource);
  }

  /** Has each connection replaced by a new one before its next use. */
  renewConnections(): void {
    this.pool.renew();
  }

  /** Runs a statement on a connection of its own, without TypeORM. */
  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const statement = this.placement.writeStatement(sql, parameters);
    return (await this.onConnection((client) => client.runStatement<Row>(...statement))).rows;
  }

  /** Runs a statement of a hot path, whose text never varies: each connection parses and plans it once. */
  async prepared<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const statement = this.placement.writeStatement(sql, parameters);
    return (await this.onConnection((client) => client.runPrepared<Row>(...statement))).rows;
  }

  /** Runs a prepared statement that is cancelled after `timeoutMs` milliseconds; see `isStatementTimeout`. */
  async preparedWithin<Row>(timeoutMs: number, sql: string, parameters: unknown[]): Promise<Row[]> {
    const statement = this.placement.writeStatement(sql, parameters);
    const run = (client: DatabaseClient) => client.runPreparedWithin<Row>(timeoutMs, ...statement);
    return (await this.onConnection(run)).rows;
  }

  /**
   * Runs a prepared read that is always fast, and whose first parameter is the id of its workspace. The reads
   * of one tick of the event loop share a connection and a packet, whatever requests they belong to; each
   * waits for the reads before it. Where the server of one may hang alone, each has a connection of its own,
   * within the share of its workspace.
   */
  async pipelinedRead<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    if (!this.placement.mixesWorkspaces)
      return this.placement.forWorkspace(parameters[0] as string, () => this.prepared<Row>(sql, parameters));
    return (await this.pipelinedReads.runPrepared(sql, parameters)).rows as Row[];
  }

  /**
   * Reads rows of any workspaces by a prepared statement; null where a statement serves one workspace: then
   * the caller reads them one by one, or does without.
   */
  async preparedAcross<Row>(sql: string, parameters: unknown[]): Promise<Row[] | null> {
    return this.spansWorkspaces ? this.prepared<Row>(sql, parameters) : null;
  }

  /** Returns the number of workspaces that one statement may serve, up to a limit. */
  workspacesAtOnce(limit: number): number {
    return this.spansWorkspaces ? limit : 1;
  }

  /** Returns the key of the batches that may hold work for a workspace. */
  batchKeyOf(tenantId: string): string {
    return this.spansWorkspaces ? '' : tenantId;
  }

  /** Splits items into batches of up to `size`, each of which one statement may serve, in their order. */
  batchesOf<T extends { tenantId: string }>(items: T[], size: number): T[][] {
    const groups = this.spansWorkspaces ? [items] : [...groupByWorkspace(items).values()];
    return groups.flatMap((group) => partsOf(group, size));
  }

  /**
   * Does work with batches of items, each of which uses a connection: with one after the other, or with the
   * batches of all workspaces at the same time where the server of one may hang alone. A batch that fails
   * ends no other.
   * @param onFailure gets the error of a batch
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
   * Runs `work` in one transaction: all of it commits, or nothing if `work` or a pipelined statement fails.
   * Work of pipelined statements alone need not be asynchronous.
   * @throws DatabaseUnavailable when the transaction can't begin; AppError NOT_FOUND when a row names an
   *   unknown workspace; otherwise the first error
   */
  async transaction<T>(work: (tx: Transaction) => T | Promise<T>): Promise<T> {
    const client = (await this.pool.connect()) as PoolClient & DatabaseClient;
    const tx = new OpenTransaction(client, this.placement.writeStatement);
    let value: T;
    try {
      value = await tx.runWork(work);
    } catch (error) {
      throw isWorkspaceUnknown(error) ? AppError.notFound('Workspace') : error;
    } finally {
      client.release(tx.isOver ? undefined : true);
    }
    this.runCallbacks(tx);
    return value;
  }

  /**
   * Runs `work` in a transaction whose statements are planned as queues need: rows are found by an index and
   * in its order. The planner's statistics are no guide, because a queue is empty at one moment and long at
   * the next. `work` must not pause for 3 s between two statements.
   */
  queueTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transactionFor('queue', work);
  }

  /**
   * Runs `work` as `queueTransaction` does, for statements that need no sort: each reads the index that has
   * its order. Otherwise the planner might sort all that another index has of the workspace.
   */
  orderedTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transactionFor('ordered', work);
  }

  /** Reads a queue in a transaction of its own, in the order of an index. */
  readInOrder<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.orderedTransaction((tx) => tx.prepared<Row>(sql, parameters));
  }

  /**
   * Reads a queue as `readInOrder` does, for a poll. The polls of one tick of the event loop share a
   * transaction.
   */
  async poll<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.polledReads.read(sql, parameters)) as Row[];
  }

  /**
   * Runs a read of tables with an index for it, in a transaction of its own. PostgreSQL can't estimate how
   * much such a read finds; it would compile it, or read the whole table.
   */
  readByIndex<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    return this.transactionFor('indexed', (tx) => tx.prepared<Row>(sql, parameters));
  }

  private transactionFor<T>(kind: ReadKind, work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.transaction((tx) => {
      for (const setting of this.settings[kind]) tx.pipeline(setting, []);
      return work(tx);
    });
  }

  private async onConnection<T>(work: (client: DatabaseClient) => Promise<T>): Promise<T> {
    const client = (await this.pool.connect()) as PoolClient & DatabaseClient;
    let failure: Error | undefined;
    try {
      return await work(client);
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      // A connection is not used again after any error.
      client.release(failure);
    }
  }

  private runCallbacks(tx: OpenTransaction): void {
    try {
      tx.committed();
    } catch (error) {
      // The work is committed: a failed wake-up must not make it look undone. Polling makes up for it.
      this.logger.error({ err: error }, 'a callback after a commit failed');
    }
  }
}

/** A source of reads: the database outside a transaction, or an open transaction. */
export type Reader = Database | Transaction;
