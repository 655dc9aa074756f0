import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startReaper } from './processes.mjs';
import { findHome } from './servers/home.mjs';
import { startPostgres } from './servers/postgres.mjs';
import { startRedis } from './servers/redis.mjs';

/**
 * @typedef {object} Servers
 * @property {string} databaseUrl
 * @property {string} redisUrl
 * @property {boolean} embedded whether either of them is ours
 * @property {import('./processes.mjs').Reaper} reaper ends the servers, and before them what it is given
 * @property {Promise<never>} failed rejects when one of our servers stops
 * @property {() => Promise<void>} stop
 */

/**
 * Starts PostgreSQL and Redis on free ports of the loopback address. DATABASE_URL and REDIS_URL, when set,
 * stand in for one each. However this process ends, the servers end after it.
 *
 * @param {object} options
 * @param {string} [options.dataDir] where the data stays; without it, a temporary folder that goes at the end
 * @param {boolean} [options.disposable] speed before safety, as is right for data that goes at the end
 * @param {(line: string) => void} [options.onLog]
 * @returns {Promise<Servers>}
 */
export async function startServers({ dataDir, disposable = dataDir === undefined, onLog = () => undefined }) {
  const { DATABASE_URL: databaseUrl, REDIS_URL: redisUrl } = process.env;
  if (databaseUrl && redisUrl) {
    const reaper = await startReaper();
    const failed = new Promise(() => undefined);
    return { databaseUrl, redisUrl, embedded: false, reaper, failed, stop: reaper.finish };
  }

  const folder = dataDir ?? temporaryFolder();
  const home = findHome(folder);
  const reaper = await startReaper(join(home.directory, 'lock'));
  if (dataDir === undefined) [folder, home.directory].forEach(reaper.removeAtEnd);

  const options = { home, reaper, disposable, onLog };
  const [postgres, redis] = await Promise.allSettled([
    databaseUrl ? { url: databaseUrl } : startPostgres(options),
    redisUrl ? { url: redisUrl } : startRedis(options),
  ]);
  const fault = [postgres, redis].find(({ status }) => status === 'rejected');
  if (fault) {
    await reaper.finish();
    throw fault.reason;
  }
  const failed = Promise.race([postgres, redis].map(({ value }) => value.ended).filter(Boolean));
  failed.catch(() => undefined); // for whoever cares; a wanted stop is no failure
  return {
    databaseUrl: postgres.value.url,
    redisUrl: redis.value.url,
    embedded: true,
    reaper,
    failed,
    stop: reaper.finish,
  };
}

function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'messaging-'));
  chmodSync(folder, 0o755); // the servers may run as another user
  return folder;
}
