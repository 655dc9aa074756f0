import { setTimeout as sleep } from 'node:timers/promises';
import { AbstractLogger, DataSource, DataSourceOptions } from 'typeorm';
import { AppError } from '../../common/app-error';
import { isLockConflict } from '../driver/database-errors';
import { withRoleOf } from '../../config/database-address';
import { Config } from '../../config/config';
import { connectionOptions } from '../data-source';
import { Database } from '../database';
import { DatabaseClient } from '../driver/database-client';
import { hasCitus } from '../citus/citus';
import { distributeTables, onAllNodes, requireDistributable } from '../citus/distributed-tables';
import { listAppliedMigrations } from './migration-state';
import { OwnerDatabase } from '../owner-database';
import { setRoleSettings } from './role-settings';
import { ServiceRole } from './service-role';

/** Key of the advisory lock under which one process migrates while others wait; an arbitrary number. */
const MIGRATION_LOCK = 7_254_139;
const LOCK_POLL_MS = 250;
/** SQLSTATE of PgBouncer's refusal of a startup parameter, which shows that the address leads to a pooler. */
const PROTOCOL_VIOLATION = '08P01';
/** Milliseconds that a migration waits for a table's lock, because later statements wait behind it. */
const LOCK_TIMEOUT_MS = 1_000;
const TRIES = 10;
const MAX_PAUSE_MS = 15_000;
/** Time (ms since 1970) in the first migration's name; older migrations are from pre-release versions. */
const BASELINE_MS = 1_795_392_000_000;

type Migrations = NonNullable<DataSourceOptions['migrations']>;

/**
 * Applies every missing migration, or reverts the last one, as the owner of the tables. On Citus it then
 * distributes the new tables. Then it stores settings with both roles, and grants the service's role exactly
 * the privileges that it needs. Two processes may run it at once: the second waits, and finds nothing to do.
 * A migration that does not get a lock within 1 s is rolled back and tried again, so that it does not hold up
 * processes that serve requests.
 * @param migrations replace the service's own
 * @returns the names of the migrations applied or reverted
 * @throws AppError INVALID_BODY: a pre-release version made the database, the two roles do not protect the
 *   audit log, the address leads to a pooler, or Citus is not set up; UNAVAILABLE: no lock was granted, or a
 *   node of Citus does not answer
 */
export async function migrate(
  config: Config,
  direction: 'up' | 'down',
  migrations?: Migrations,
): Promise<string[]> {
  const dataSource = directDataSource(config, migrations);
  await dataSource.initialize().catch((error: Error & { code?: string }) => {
    throw error.code === PROTOCOL_VIOLATION ? behindPooler() : error;
  });
  try {
    return await withServiceRole(config, (serviceRole) =>
      withMigrationLock(dataSource, async () => {
        const before = await listAppliedMigrations(dataSource);
        if (before.some((name) => timeOf(name) < BASELINE_MS)) throw preRelease();
        if (direction === 'down') return await revertLast(dataSource, before.at(-1));
        const isDistributed = await hasCitus(dataSource);
        if (isDistributed) await requireDistributable(dataSource);
        await onAllNodes(async () => {
          await inTries(() => dataSource.runMigrations());
          if (isDistributed) await inTries(() => distributeTables(dataSource));
          await setRoleSettings(dataSource);
          await serviceRole?.setUpRole();
        });
        return (await listAppliedMigrations(dataSource)).slice(before.length);
      }),
    );
  } finally {
    await dataSource.destroy();
  }
}

/** Returns a data source that bypasses a pooler, because its lock and its time-outs need one session. */
function directDataSource(config: Config, migrations: Migrations | undefined): DataSource {
  const { databaseUrl, databaseOwnerUrl, databaseDirectUrl } = config;
  const options = connectionOptions(
    config,
    DatabaseClient,
    databaseDirectUrl ?? databaseOwnerUrl ?? databaseUrl,
  );
  return new DataSource({
    ...options,
    ...(migrations && { migrations }),
    poolSize: 2,
    logger: new SilentLogger(),
    extra: {
      ...options.extra,
      pipeline: false,
      // Written as a text, because pg would leave out the number 0, and the role's own setting would apply.
      statement_timeout: '0',
      lock_timeout: LOCK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: '0',
    },
  });
}

/**
 * Calls `work` with the service's role, or with null if the owner of the tables is the same role. The
 * connections bypass a pooler, because it might reuse connections from before the roles got their settings.
 */
async function withServiceRole<T>(
  given: Config,
  work: (serviceRole: ServiceRole | null) => Promise<T>,
): Promise<T> {
  const { databaseUrl, databaseDirectUrl } = given;
  const config = databaseDirectUrl
    ? {
        ...given,
        databaseUrl: withRoleOf(databaseDirectUrl, databaseUrl),
        databaseOwnerUrl: databaseDirectUrl,
      }
    : given;
  if (!config.databaseOwnerUrl) return work(null);
  const dataSource = new DataSource({ ...connectionOptions(config), migrations: [], poolSize: 1 });
  await dataSource.initialize();
  const service = await Database.forDataSource(dataSource, config);
  const owner = new OwnerDatabase(config, service);
  try {
    return await work(await ServiceRole.identify(service, owner));
  } finally {
    await owner.onApplicationShutdown();
    await dataSource.destroy();
  }
}

/** Logs nothing, because TypeORM would print each failed statement, even one that is tried again. */
class SilentLogger extends AbstractLogger {
  protected override writeLog(): void {}
}

async function revertLast(dataSource: DataSource, last: string | undefined): Promise<string[]> {
  if (last === undefined) return [];
  const migration = dataSource.migrations.find((one) => (one.name ?? one.constructor.name) === last);
  // Passed to TypeORM, because it ignores a migration's own `transaction` when it reverts the migration.
  const transaction = migration?.transaction === false ? 'none' : 'each';
  await inTries(() => dataSource.undoLastMigration({ transaction }));
  return [last];
}

/**
 * Runs `work` under the advisory lock of migrations. It tries the lock in a loop, because a statement that
 * waits for it would hold a snapshot, for whose end CREATE INDEX CONCURRENTLY would wait for ever.
 */
async function withMigrationLock<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner();
  const tryLock = async () => {
    const [lock] = (await runner.query('SELECT pg_try_advisory_lock($1) AS "isOurs"', [MIGRATION_LOCK])) as [
      { isOurs: boolean },
    ];
    return lock.isOurs;
  };
  try {
    while (!(await tryLock())) await sleep(LOCK_POLL_MS);
    try {
      return await work();
    } finally {
      await runner.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    await runner.release();
  }
}

/** Runs `work`, and repeats it after lock conflicts, 10 times in all, with growing pauses. */
async function inTries(work: () => Promise<unknown>): Promise<void> {
  for (let failures = 0; ;) {
    try {
      return void (await work());
    } catch (error) {
      if (!isLockConflict(error)) throw error;
      failures += 1;
      if (failures === TRIES) throw noLock();
      await sleep(Math.min(500 * 2 ** failures, MAX_PAUSE_MS) * (0.75 + Math.random() / 2));
    }
  }
}

function timeOf(name: string): number {
  return Number(name.slice(-13));
}

function preRelease(): AppError {
  return new AppError(
    'INVALID_BODY',
    'This database was made by a pre-release version, from which there is no upgrade. Nothing was changed. ' +
      'Use a new, empty database.',
  );
}

function behindPooler(): AppError {
  return new AppError(
    'INVALID_BODY',
    'The address leads to a pooler, which refuses what a migration needs: set DATABASE_DIRECT_URL to the address of ' +
      'PostgreSQL itself, for the owner of the tables.',
  );
}

function noLock(): AppError {
  return new AppError(
    'UNAVAILABLE',
    `A migration got no lock within ${LOCK_TIMEOUT_MS} ms, ${TRIES} times: long transactions hold it. ` +
      'The migrations before it are applied, it is not. Run "migrate" again.',
  );
}
