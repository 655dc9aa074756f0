import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReaper } from './processes.mjs';
import { findHome } from './servers/home.mjs';
import { startPostgres } from './servers/postgres.mjs';
import { startRedis } from './servers/redis.mjs';

/**
 * @typedef {object} Servers
 * @property {string} databaseUrl for the service
 * @property {string | undefined} databaseOwnerUrl for the owner of the tables, if that is another role
 * @property {string} databaseAdminUrl for who makes databases
 * @property {string} redisUrl
 * @property {import('./servers/home.mjs').Home} home where more servers may run
 * @property {boolean} embedded whether this launcher runs at least one of them
 * @property {import('./processes.mjs').Reaper} reaper ends the processes given to it, then the servers
 * @property {Promise<never>} failed rejects when an embedded server stops
 * @property {() => Promise<void>} stop
 */

/**
 * Starts PostgreSQL and Redis on free ports of the loopback address, unless DATABASE_URL or REDIS_URL names one that
 * runs; DATABASE_OWNER_URL goes with the former. The servers end after this process, however it ends.
 *
 * @param {object} options
 * @param {string} [options.dataDir] keeps the data; by default a temporary folder, removed at the end
 * @param {boolean} [options.disposable] speed before safety, for temporary data
 * @param {(line: string) => void} [options.onLog]
 * @returns {Promise<Servers>}
 */
export async function startServers({ dataDir, disposable = dataDir === undefined, onLog = () => undefined }) {
  const { DATABASE_URL: databaseUrl, DATABASE_OWNER_URL, REDIS_URL: redisUrl } = process.env;
  const given = {
    databaseUrl,
    databaseOwnerUrl: DATABASE_OWNER_URL || undefined,
    adminUrl: DATABASE_OWNER_URL || databaseUrl,
  };
  const folder = dataDir ?? temporaryFolder();
  const home = findHome(folder);
  if (databaseUrl && redisUrl) {
    const reaper = await startReaper();
    if (dataDir === undefined) [folder, home.directory].forEach(reaper.removeAtEnd);
    const failed = new Promise(() => undefined);
    return { ...urlsOf(given), redisUrl, home, embedded: false, reaper, failed, stop: reaper.finish };
  }

  const reaper = await startReaper(join(home.directory, 'lock'));
  if (dataDir === undefined) [folder, home.directory].forEach(reaper.removeAtEnd);

  const options = { home, reaper, disposable, onLog };
  const [postgres, redis] = await Promise.allSettled([
    databaseUrl ? given : startPostgres(options),
    redisUrl ? { url: redisUrl } : startRedis(options),
  ]);
  const fault = [postgres, redis].find(({ status }) => status === 'rejected');
  if (fault) {
    await reaper.finish();
    throw fault.reason;
  }
  const failed = Promise.race([postgres, redis].map(({ value }) => value.ended).filter(Boolean));
  failed.catch(() => undefined); // no unhandled rejection after a wanted stop
  return {
    ...urlsOf(postgres.value),
    redisUrl: redis.value.url,
    home,
    embedded: true,
    reaper,
    failed,
    stop: reaper.finish,
  };
}

function urlsOf({ databaseUrl, databaseOwnerUrl, adminUrl }) {
  return { databaseUrl, databaseOwnerUrl, databaseAdminUrl: adminUrl };
}

function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-'));
  chmodSync(folder, 0o755); // the servers may run as another user
  return folder;
}
