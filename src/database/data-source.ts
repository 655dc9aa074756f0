import { join } from 'node:path';
import { DataSourceOptions } from 'typeorm';
import { Config } from '../config/config';
import { DatabaseClient, STATEMENT_TIMEOUT_MS } from './database-client';

const LOCK_TIMEOUT_MS = 2_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** Detects a dead peer on idle connections. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Compiled beside the compiled service; the tests run the sources. */
const MIGRATIONS = __filename.endsWith('.ts') ? '../../migrations/*.ts' : '../migrations/*.js';

/** Features add their entities themselves. */
export function connectionOptions(
  { databaseUrl, databasePoolSize, role }: Config,
  Client: typeof DatabaseClient = DatabaseClient,
) {
  return {
    type: 'postgres',
    url: databaseUrl,
    poolSize: databasePoolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: `messaging-${role}`,
    installExtensions: false,
    migrations: [join(__dirname, MIGRATIONS)],
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    extra: {
      statement_timeout: STATEMENT_TIMEOUT_MS,
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      Client,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    },
  } satisfies DataSourceOptions;
}
