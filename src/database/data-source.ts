import { join } from 'node:path';
import { DataSourceOptions } from 'typeorm';
import { BUILD_FOLDER } from '../common/build-folder';
import { Config } from '../config/config';
import { DatabaseClient } from './driver/database-client';
import { DatabaseHosts } from './driver/database-hosts';
import { DatabasePool } from './driver/database-pool';

const CONNECT_TIMEOUT_MS = 3_000;
/** Idle time in milliseconds after which TCP checks whether the server is still there. */
const KEEP_ALIVE_AFTER_MS = 10_000;

/**
 * Returns TypeORM's options for the service's database. They list no entities, because each feature's module
 * adds its own, and no time-outs, because those are stored with the database role (`role-settings.ts`).
 * @param address `postgresql://` address of the servers; by default DATABASE_URL
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
    migrations: [join(BUILD_FOLDER, 'migrations/*.js')],
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
