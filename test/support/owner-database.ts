import { Config } from '../../src/config/config';
import { Database } from '../../src/database/database';
import { OwnerDatabase } from '../../src/database/owner-database';
import { Dashboard } from './dashboard';
import { TestStores } from './test-database';

/** Returns the configuration of a process that also acts as the owner of the tables. */
export function ownerConfig(dashboard: Dashboard, stores: TestStores = dashboard.stores): Config {
  const config = dashboard.app.get<Config>(Config, { strict: false });
  return { ...config, databaseOwnerUrl: stores.databaseOwnerUrl ?? null };
}

/**
 * Opens the owner's connection, which a worker has in addition to the modules that a dashboard's backend
 * imports. Shut it down before the dashboard.
 */
export function ownerDatabase(dashboard: Dashboard): OwnerDatabase {
  return new OwnerDatabase(ownerConfig(dashboard), dashboard.get(Database));
}
