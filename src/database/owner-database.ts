import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { randomInt } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Config } from '../config/config';
import { AppError } from '../common/app-error';
import { connectionOptions } from './data-source';
import { Database } from './database';
import { DatabaseClient } from './database-client';
import { Transaction } from './transaction';

/** Partitions are changed one at a time, and now and then a queue is vacuumed meanwhile. */
const POOL_SIZE = 2;

/**
 * The database as the owner of the tables, for what the service's role may not do: to change partitions, to vacuum, to
 * delete the audit entries of a workspace that goes. Only workers have it. Its connections are opened when they are
 * needed, and closed when they have been idle for ten seconds. Without DATABASE_OWNER_URL it is the service's own role.
 */
@Injectable()
export class OwnerDatabase implements OnApplicationShutdown {
  private dataSource: DataSource | null = null;
  private opening: Promise<Database> | null = null;

  constructor(
    private readonly config: Config,
    private readonly database: Database,
  ) {}

  /** @throws AppError INVALID_BODY when DATABASE_OWNER_URL leads to another database */
  async query<Row>(sql: string, parameters: unknown[] = []): Promise<Row[]> {
    return (await this.open()).query<Row>(sql, parameters);
  }

  /**
   * As `Database.transaction`.
   * @throws AppError INVALID_BODY when DATABASE_OWNER_URL leads to another database
   */
  async transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return (await this.open()).transaction(work);
  }

  /** Removes the dead rows of a queue, which would stand in front of those that are wanted. */
  async vacuum(queue: 'event_queue' | 'pending_deliveries'): Promise<void> {
    await this.query(`VACUUM (SKIP_LOCKED, TRUNCATE false, INDEX_CLEANUP on) ${queue}`);
  }

  /** As `Database.renewConnections`. */
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
    const dataSource = await new DataSource({
      ...connectionOptions(this.config, DatabaseClient, databaseOwnerUrl),
      poolSize: POOL_SIZE,
      applicationName: `messaging-${role}-owner`,
      migrations: [],
    }).initialize();
    try {
      const owner = new Database(dataSource);
      await requireSameDatabase(owner, this.database);
      this.dataSource = dataSource;
      return owner;
    } catch (error) {
      await dataSource.destroy();
      throw error;
    }
  }
}

/** @throws AppError INVALID_BODY: a lock that is held over the one is free over the other */
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
