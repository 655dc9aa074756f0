import { join } from 'node:path';
import { DataSourceOptions } from 'typeorm';
import { Config } from '../config/config';
import { DatabaseClient, STATEMENT_TIMEOUT_MS } from './database-client';

const LOCK_TIMEOUT_MS = 2_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;
const CONNECT_TIMEOUT_MS = 3_000;
/** For the connections on which nothing is waited for: a lost way to the server shows there, too. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** The migrations stand beside the compiled service; from the sources (tests) they are taken as they are written. */
const MIGRATIONS = __filename.endsWith('.ts') ? '../../migrations/*.ts' : '../migrations/*.js';

/** How this service connects to its database. Features add their entities themselves. */
export function connectionOptions({ databaseUrl, databasePoolSize, role }: Config) {
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
      Client: DatabaseClient,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    },
  } satisfies DataSourceOptions;
}
