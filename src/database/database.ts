import { Logger } from '@nestjs/common';
import { DataSource, EntityManager } from 'typeorm';
import { AppError } from '../common/app-error';
import { toBatches } from '../common/group-by';
import { Config } from '../config/config';
import { hasCitus, ON_EACH_SERVER } from './citus/citus';
import { isWorkspaceUnknown } from './driver/database-errors';
import type { PoolClient } from 'pg';
import { DatabaseClient } from './driver/database-client';
import { DatabasePool, poolOf } from './driver/database-pool';
import { merged, Merging } from './citus/merged-rows';
import { Node, NodeSearches } from './citus/node-searches';
import { withPresentTime } from './citus/present-time';
import { NodeShares } from './citus/node-shares';
import { PipelinedReads } from './driver/pipelined-reads';
import { ONE_SERVER, Place, PlacedReads, PlacedWork } from './citus/places';
import { OpenTransaction } from './open-transaction';
import { ReadKind, settingsFor } from './planner-settings';
import { SharedReads } from './shared-reads';
import { Transaction, WriteStatement } from './transaction';

/**
 * Name of the service's data source, so that a dashboard backend that imports this service keeps its own
 * default one.
 */
export const DATA_SOURCE = 'messaging';

/** Tells what a node needs to know of a search, and how the rows of several become those of one. */
interface NodeSearch<Row> extends Merging<Row> {
  /** Columns that hold times. */
  times?: (keyof Row & string)[];
  /**
   * Number of the first parameters that are lists with an element for each workspace, or for each part of
   * one; the first has the ids of the workspaces. Each node gets the elements of its own.
   */
  lists?: number;
}

/** Runs single reads outside a transaction, and is the one way to open a transaction. */
export class Database {
  private readonly logger = new Logger(Database.name);
  private readonly pipelinedReads = new PipelinedReads((work) => this.onConnection(work));
  private readonly polledReads = new SharedReads((work) => this.orderedTransaction(work));
  private readonly nodeSearches = new NodeSearches((sql, parameters) => this.query(sql, parameters));
  private readonly placedReads = new PlacedReads();
  private readonly nodeShares: NodeShares;

  /** Searches of all workspaces, by their text. */
  private readonly searches = new Map<string, PlacedWork<object[]>>();

  /** Whether one statement may serve several workspaces: never where they are on several nodes. */
  readonly spansWorkspaces: boolean;
  private readonly settings: Record<ReadKind, string[]>;
  private readonly write: WriteStatement;

  /** @param isDivided whether the tables are divided over the nodes of Citus */
  constructor(
    private readonly dataSource: DataSource,
    { crossWorkspaceBatches }: Pick<Config, 'crossWorkspaceBatches'>,
    readonly isDivided: boolean,
  ) {
    this.spansWorkspaces = crossWorkspaceBatches && !isDivided;
    this.nodeShares = new NodeShares(this.pool.options.max, (id) => this.nodeSearches.nodeOf(id));
    this.write = isDivided ? withPresentTime : asWritten;
    this.settings = {
      queue: settingsFor('queue', isDivided),
      ordered: settingsFor('ordered', isDivided),
      indexed: settingsFor('indexed', isDivided),
    };
  }

  /** Returns the database of an open data source, which it asks whether it is one of a cluster of Citus. */
  static async forDataSource(
    dataSource: DataSource,
    config: Pick<Config, 'crossWorkspaceBatches'>,
  ): Promise<Database> {
    return new Database(dataSource, config, await hasCitus(dataSource));
  }

  get manager(): EntityManager {
    return this.dataSource.manager;
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
    const statement = this.write(sql, parameters);
    return (await this.onConnection((client) => client.runStatement<Row>(...statement))).rows;
  }

  /** Runs a statement of a hot path, whose text never varies: each connection parses and plans it once. */
  async prepared<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    const statement = this.write(sql, parameters);
    return (await this.onConnection((client) => client.runPrepared<Row>(...statement))).rows;
  }

  /** Runs a prepared statement that is cancelled after `timeoutMs` milliseconds; see `isStatementTimeout`. */
  async preparedWithin<Row>(timeoutMs: number, sql: string, parameters: unknown[]): Promise<Row[]> {
    const statement = this.write(sql, parameters);
    const run = (client: DatabaseClient) => client.runPreparedWithin<Row>(timeoutMs, ...statement);
    return (await this.onConnection(run)).rows;
  }

  /**
   * Runs a prepared read that is always fast, and whose first parameter is the id of its workspace. The reads
   * of one tick of the event loop share a connection and a packet, whatever requests they belong to; each
   * waits for the reads before it. Where workspaces are on several nodes, one of which may hang, each has a
   * connection of its own, within the share of its node.
   */
  async pipelinedRead<Row>(sql: string, parameters: unknown[]): Promise<Row[]> {
    if (this.isDivided)
      return this.withinNodeShare(parameters[0] as string, () => this.prepared<Row>(sql, parameters));
    return (await this.pipelinedReads.runPrepared(sql, parameters)).rows as Row[];
  }

  /**
   * Does work for a workspace that uses a connection: at once, or within the share of its node where
   * workspaces are on several nodes. The first read of a request is such work, and so are a worker's claims
   * and records: while the node hangs, what would follow them does not begin. `work` must not call this
   * itself, and so no `pipelinedRead`.
   * @throws DatabaseUnavailable when no connection of the share is free in time; what `work` throws
   */
  withinNodeShare<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
    return this.isDivided ? this.nodeShares.run(tenantId, work) : work();
  }

  /**
   * Does work with batches of items, each of which uses a connection: with one after the other, or with those
   * of all workspaces at the same time where these are on several nodes. A batch that fails ends no other.
   * @param onFailure gets the error of a batch
   */
  async workInBatches<T extends { tenantId: string }>(
    items: T[],
    size: number,
    work: (batch: T[]) => Promise<void>,
    onFailure: (error: Error, batch: T[]) => void,
  ): Promise<void> {
    const begin = (batch: T[]) =>
      this.withinNodeShare(batch[0]!.tenantId, () => work(batch)).catch((error: Error) =>
        onFailure(error, batch),
      );
    const batches = toBatches(items, size, this);
    if (this.isDivided) await Promise.all(batches.map(begin));
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
    const tx = new OpenTransaction(client, this.write, this.dataSource);
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

  /** Lists the places that a search of all workspaces looks through: nodes of Citus, or the one server. */
  async listPlaces(): Promise<Place[]> {
    return this.isDivided ? this.nodeSearches.list() : [ONE_SERVER];
  }

  /**
   * Returns the name of the node that has a workspace. It is null on one server, and while it is not known:
   * then a later call may know it.
   */
  nodeOf(tenantId: string): string | null {
    return this.isDivided ? this.nodeSearches.nameOf(tenantId) : null;
  }

  /**
   * Searches the workspaces of one place for work, as `poll` reads.
   * @throws NodeFailed when the place is a node that does not answer
   */
  async searchIn<Row extends object>(
    place: Place,
    sql: string,
    parameters: unknown[],
    { times = [], lists = 0, ...merging }: NodeSearch<Row>,
  ): Promise<Row[]> {
    if (place === ONE_SERVER) return this.poll<Row>(sql, parameters);
    const rows = (await this.nodeSearches.run(place as Node, { sql, parameters, lists })) as Row[];
    for (const row of rows)
      for (const column of times)
        if (row[column] !== null) row[column] = new Date(row[column] as string) as Row[typeof column];
    return merged(rows, merging);
  }

  /**
   * Searches all workspaces for work. Where they are on several nodes, the rows are those of the nodes that
   * answer soon, and what others have found for an earlier search of the same text. So the statement has no
   * parameters; one that has some is a caller's own `PlacedWork` of `searchIn`.
   */
  async search<Row extends object>(sql: string, merging: NodeSearch<Row>): Promise<Row[]> {
    if (!this.isDivided) return this.poll<Row>(sql);
    const search = this.searches.get(sql) ?? new PlacedWork();
    this.searches.set(sql, search);
    const found = await search.run(await this.listPlaces(), (place) =>
      this.searchIn(place, sql, [], merging),
    );
    return merged(found.flat() as Row[], merging);
  }

  /**
   * Reads rows of workspaces in all places, as `searchIn` does. Those of a node that does not answer within a
   * second are left out.
   */
  async readInPlaces<Row extends object>(
    sql: string,
    parameters: unknown[],
    options: NodeSearch<Row>,
  ): Promise<Row[]> {
    const rows = await this.placedReads.run(await this.listPlaces(), (place) =>
      this.searchIn<Row>(place, sql, parameters, options),
    );
    return merged(rows, options);
  }

  /**
   * Runs a read of PostgreSQL's own views on each server that has tables of the service, without parameters
   * and times. Nodes that do not answer are left out. `server` is the number of the server that a row is of.
   */
  async readOnEachServer<Row extends object>(sql: string): Promise<(Row & { server: number })[]> {
    if (!this.isDivided) return this.query(`SELECT 0 AS server, found.* FROM (${sql}) AS found`);
    const answers = await this.query<{ server: number; rows: string }>(ON_EACH_SERVER, [sql]);
    return answers.flatMap(({ server, rows }) =>
      (JSON.parse(rows) as Row[]).map((row) => ({ ...row, server })),
    );
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

const asWritten: WriteStatement = (sql, parameters) => [sql, parameters];
