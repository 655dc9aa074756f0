import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Config } from '../config/config';
import { AppError } from '../common/app-error';
import { connectionOptions } from './data-source';
import { Database } from './database';
import { DatabaseClient } from './driver/database-client';
import { Transaction } from './transaction';

/** Number of the owner's connections: one can vacuum a table while the other changes a partition. */
const POOL_SIZE = 2;

/** Milliseconds between two checks for unused connections of the owner. */
const CHECK_UNUSED_MS = 10_000;
/** Largest size in bytes, with indexes, of a table that `vacuum` processes, in a second or two. */
const MAX_VACUUMED_BYTES = 256 * 1024 * 1024;

/**
 * Runs statements as the owner of the tables, for acts that the service's role may not do: changing
 * partitions, vacuuming, deleting the audit entries of a deleted workspace. Only workers use it. It opens
 * connections when they are needed, and closes them after 10 to 20 idle seconds. Without DATABASE_OWNER_URL
 * it uses the connections of the service's role.
 */
@Injectable()
export class OwnerDatabase implements OnApplicationShutdown {
  private dataSource: DataSource | null = null;
  private opening: Promise<Database> | null = null;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {}

  /**
   * Runs a statement as the owner.
   * @throws AppError INVALID_BODY when DATABASE_OWNER_URL leads to another database
   */
  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.open()).query<Row>(sql, parameters);
  }

  /**
   * Runs `work` in a transaction of the owner, as `Database.transaction` does.
   * @throws AppError INVALID_BODY when DATABASE_OWNER_URL leads to another database
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return (await this.open()).transaction(work);
  }

  /**
   * Vacuums a queue, a table of waiting work. It skips a table of more than 256 MiB, for which the statement
   * timeout of 5 s may be too short: autovacuum processes that table.
   */
  async vacuum(queue: 'event_queue' | 'pending_deliveries'): Promise<void> {
    const [size] = await this.query<{ isLarge: boolean }>(
      'SELECT pg_total_relation_size($1::regclass) > $2 AS "isLarge"',
      [queue, MAX_VACUUMED_BYTES],
    );
    if (size!.isLarge) return;
    await this.query(`VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) ${queue}`);
  }

  async renewConnections(): Promise<void> {
    (await this.open()).renewConnections();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.opening?.catch(() => undefined);
    await this.dataSource?.destroy();
  }

  private open(): Promise<Database> {
    this.opening ??= this.connect().catch((error: Error) => {
      this.opening = null;
      throw error;
    });
    return this.opening;
  }

  private async connect(): Promise<Database> {
    const { databaseOwnerUrl, role } = this.config;
    if (!databaseOwnerUrl) return this.database;
    const options = connectionOptions(this.config, DatabaseClient, databaseOwnerUrl);
    const dataSource = await new DataSource({
      ...options,
      extra: { ...options.extra, checkUnusedMs: CHECK_UNUSED_MS },
      poolSize: POOL_SIZE,
      applicationName: `messaging-${role}-owner`,
      migrations: [],
    }).initialize();
    try {
      const owner = await Database.forDataSource(dataSource, this.config);
      await requireSameDatabase(owner, this.database);
      this.dataSource = dataSource;
      return owner;
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
  }
}

/**
 * Refuses DATABASE_OWNER_URL if it leads to another database than the service's. For this, the owner acquires
 * an advisory lock; the service could acquire the same lock only in another database.
 * @throws AppError INVALID_BODY
 */
async function requireSameDatabase(owner: Database, service: Database): Promise<void> {
  const key = [randomInt(2 ** 48 - 1)];
  const isFree = await owner.transaction(async (tx) => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', key);
    const [lock] = await service.query<{ isFree: boolean }>(
      'SELECT pg_try_advisory_xact_lock($1) AS "isFree"',
      key,
    );
    return lock!.isFree;
  });
  if (isFree)
    throw new AppError('INVALID_BODY', 'DATABASE_OWNER_URL and DATABASE_URL lead to different databases.');
}
