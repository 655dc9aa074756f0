import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReaper } from './processes.mjs';
import { startCitus } from './servers/citus.mjs';
import { findHome } from './servers/home.mjs';
import { startPostgres } from './servers/postgres.mjs';
import { startRedis } from './servers/redis.mjs';

/**
 * PostgreSQL and Redis for this process.
 *
 * @typedef {object} Servers
 * @property {string} databaseUrl for the service
 * @property {string | undefined} databaseOwnerUrl for the owner of the tables, if that is another role
 * @property {string} databaseAdminUrl for who makes databases
 * @property {string[]} databaseNodes the same address of each node of Citus, the coordinator's first; the one
 *   address of any other PostgreSQL
 * @property {string} redisUrl
 * @property {import('./servers/home.mjs').Home} home where more servers may run
 * @property {boolean} embedded whether this launcher runs at least one of them
 * @property {import('./processes.mjs').Reaper} reaper ends the processes given to it, then the servers
 * @property {Promise<never>} failed rejects when an embedded server stops
 * @property {() => Promise<void>} stop
 */

/**
 * Starts PostgreSQL and Redis on free ports of the loopback address, unless DATABASE_URL or REDIS_URL names
 * one that runs; DATABASE_OWNER_URL goes with the former. The servers end after this process, however it
 * ends.
 *
 * @param {object} options
 * @param {string} [options.dataDir] keeps the data; by default a temporary folder, removed at the end
 * @param {boolean} [options.disposable] speed before safety, for temporary data
 * @param {(line: string) => void} [options.onLog]
 * @param {Record<string, string>} [options.postgresSettings] of an embedded PostgreSQL, beside its usual ones
 * @param {import('./servers/postgres-binaries.mjs').Binaries} [options.binaries] of an embedded PostgreSQL;
 *   default: those that are found
 * @param {number} [options.citusWorkers] starts a coordinator of Citus and as many other nodes instead of one
 *   PostgreSQL, with the programs in the folder CITUS_PG
 * @returns {Promise<Servers>}
 */
export async function startServers({
  dataDir,
  disposable = dataDir === undefined,
  onLog = () => undefined,
  postgresSettings = {},
  binaries,
  citusWorkers = 0,
}) {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env;
  const folder = dataDir ?? temporaryFolder();
  const home = findHome(folder);
  const embedded = !databaseUrl || !redisUrl;
  const reaper = await (embedded ? startReaper(join(home.directory, 'lock')) : startReaper());
  if (dataDir === undefined) [folder, home.directory].forEach(reaper.removeAtEnd);

  const options = { home, reaper, disposable, onLog };
  const starts = /** @type {const} */ ([
    startDatabase(),
    redisUrl ? Promise.resolve({ url: redisUrl, ended: NEVER }) : startRedis(options),
  ]);
  await Promise.allSettled(starts); // the reaper must know of both before it ends them
  const [postgres, redis] = await Promise.all(starts).catch(async (error) => {
    await reaper.finish();
    throw error;
  });
  const failed = Promise.race([postgres.ended, redis.ended]);
  failed.catch(() => undefined); // no unhandled rejection after a wanted stop
  const { databaseOwnerUrl, adminUrl: databaseAdminUrl, nodes: databaseNodes } = postgres;
  return {
    databaseUrl: postgres.databaseUrl,
    databaseOwnerUrl,
    databaseAdminUrl,
    databaseNodes,
    redisUrl: redis.url,
    home,
    embedded,
    reaper,
    failed,
    stop: reaper.finish,
  };

  async function startDatabase() {
    if (citusWorkers > 0) return startCitus(options, citusWorkers);
    const postgres = databaseUrl
      ? givenPostgres(databaseUrl)
      : await startPostgres({ ...options, binaries, settings: postgresSettings });
    return { ...postgres, nodes: [postgres.adminUrl] };
  }
}

/** @type {Promise<never>} */
const NEVER = new Promise(() => undefined);

/** @param {string} databaseUrl */
function givenPostgres(databaseUrl) {
  const databaseOwnerUrl = process.env.DATABASE_OWNER_URL || undefined;
  return { databaseUrl, databaseOwnerUrl, adminUrl: databaseOwnerUrl ?? databaseUrl, ended: NEVER };
}

function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-'));
  chmodSync(folder, 0o755); // the servers may run as another user
  return folder;
}
