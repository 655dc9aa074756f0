import { join } from 'node:path';
import { DataSourceOptions } from 'typeorm';
import { Config } from '../config/config';
import { DatabaseClient } from './database-client';
import { DatabaseHosts } from './database-hosts';
import { DatabasePool } from './database-pool';

const CONNECT_TIMEOUT_MS = 3_000;
/** Detects a dead peer on idle connections. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Compiled beside the compiled service; the tests run the sources. */
const MIGRATIONS = __filename.endsWith('.ts') ? '../../migrations/*.ts' : '../migrations/*.js';

/**
 * Features add their entities themselves. What a connection must have are settings of its role (`role-settings.ts`).
 * @param address of the servers; that of the service's role by default
 */
export function connectionOptions(
  { databaseUrl, databasePoolSize, databasePrepared, role }: Config,
  Client: typeof DatabaseClient = DatabaseClient,
  address: string = databaseUrl,
) {
  const hosts = new DatabaseHosts(address);
  return {
    type: 'postgres',
    url: hosts.current,
    driver: { Pool: DatabasePool },
    poolSize: databasePoolSize,
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    applicationName: `messaging-${role}`,
    installExtensions: false,
    migrations: [join(__dirname, MIGRATIONS)],
    migrationsTableName: 'migrations',
    migrationsTransactionMode: 'each',
    extra: {
      Client,
      hosts,
      prepared: databasePrepared,
      pipeline: true,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    },
  } satisfies DataSourceOptions;
}
