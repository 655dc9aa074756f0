import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { OwnerDatabase } from '../../src/database/owner-database';
import { MessagingHost } from './messaging-host';
import { TestStores } from './test-database';

/** Returns the configuration of a process that also acts as the owner of the tables. */
export function ownerConfig(host: MessagingHost, stores: TestStores = host.stores): Config {
  const config = host.app.get<Config>(Config, { strict: false });
  return { ...config, databaseOwnerUrl: stores.databaseOwnerUrl ?? null };
}

/**
 * Opens the owner's connection, which a worker has in addition to the modules that a dashboard's backend
 * imports. Shut it down before the dashboard.
 */
export function ownerDatabase(host: MessagingHost): OwnerDatabase {
  return new OwnerDatabase(ownerConfig(host), host.get(Database));
}
