import { join } from 'node:path';
import { DataSourceOptions } from 'typeorm';
import { Config } from '../config/config';
import { DatabaseClient } from './driver/database-client';
import { DatabaseHosts } from './driver/database-hosts';
import { DatabasePool } from './driver/database-pool';

const CONNECT_TIMEOUT_MS = 3_000;
/** Idle time in milliseconds after which TCP checks whether the server is still there. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/** Path of the compiled migrations. Tests run the service's sources, but the migrations of the last build. */
const MIGRATIONS = __filename.endsWith('.ts') ? '../../dist/migrations/*.js' : '../migrations/*.js';

/**
 * Returns TypeORM's options for the service's database, without entities, which the features add themselves.
 * Time-outs and the like are settings of the database role (`role-settings.ts`).
 * @param address of the servers; by default the address that the service's own role uses
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
