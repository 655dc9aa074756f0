import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { codeOf, freePort, LauncherError } from '../processes.mjs';
import { unpackPackage } from './apt.mjs';
import { DATA_DIR, findHome, makePrivate, runAs } from './home.mjs';
import { clearOrphan } from './orphan.mjs';
import { keptPassword, spawnServer } from './server-process.mjs';

/**
 * @typedef {object} RedisOptions
 * @property {import('./home.mjs').Home} home
 * @property {import('../processes.mjs').Reaper} reaper
 * @property {boolean} disposable speed before safety, for temporary data
 * @property {(line: string) => void} onLog
 * @property {number} [port] default: a free one
 * @property {Record<string, string>} [settings] of the server, beside its usual ones
 */

/**
 * Starts a Redis server, and waits until it has loaded its data.
 *
 * @param {RedisOptions} options
 */
export async function startRedis({ home, reaper, disposable, onLog, port: wantedPort, settings = {} }) {
  const program = findRedis(home.user, onLog);
  const data = join(home.directory, 'redis');
  makePrivate(data, home.user);
  const pidFile = join(data, 'redis.pid');
  await clearOrphan(pidFile, data);

  const port = wantedPort ?? (await freePort());
  const password = keptPassword(join(home.directory, 'redis.password'), home.user);
  const { child, ended } = spawnServer({
    name: 'Redis',
    ...program,
    args: ['-'],
    // On standard input, because every user of the machine can read a command line.
    input: configuration({ port, password, data, pidFile, disposable, settings }),
    logFile: join(home.directory, 'redis.log'),
    user: home.user,
  });
  reaper.adopt(child, 'SIGTERM');

  const url = `redis://:${password}@127.0.0.1:${port}`;
  await untilReady(url, ended);
  return { url, child, ended };
}

/**
 * @param {object} options
 * @param {number} options.port
 * @param {string} options.password
 * @param {string} options.data
 * @param {string} options.pidFile
 * @param {boolean} options.disposable
 * @param {Record<string, string>} options.settings
 */
function configuration({ port, password, data, pidFile, disposable, settings }) {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
    `requirepass ${password}`,
    `dir "${data}"`,
    `pidfile "${pidFile}"`,
    'save ""',
    `appendonly ${disposable ? 'no' : 'yes'}`,
    'maxmemory-policy noeviction',
    ...Object.entries(settings).map(([name, value]) => `${name} ${value}`),
    '',
  ].join('\n');
}

/**
 * Waits until Redis answers, which it does once it has loaded its data. Rejects when `ended` does.
 *
 * @param {string} url
 * @param {Promise<never>} ended
 */
async function untilReady(url, ended) {
  const redis = new Redis(url, { retryStrategy: () => 25, maxRetriesPerRequest: null });
  redis.on('error', () => undefined); // refused until it listens; a real fault ends the process
  try {
    await Promise.race([redis.ping(), ended]);
  } finally {
    redis.disconnect();
  }
}

/**
 * Redis's server, and the variables that it needs beside those of this process.
 *
 * @typedef {{ command: string, env?: Record<string, string> }} RedisProgram
 */

/**
 * Returns the Redis of this machine. If it has none, Debian's or Ubuntu's is downloaded into the data folder
 * of the checkout, where later starts find it: npm has no package with one.
 *
 * @param {import('./home.mjs').User | undefined} user who runs it
 * @param {(line: string) => void} onLog
 * @returns {RedisProgram}
 * @throws LauncherError with what to do, if there is none
 */
export function findRedis(user, onLog) {
  const found = fromPath() ?? fromDataFolder(user, onLog);
  if (found) return found;
  throw new LauncherError(adviceFor(process.platform));
}

/**
 * @param {import('./home.mjs').User | undefined} user
 * @param {(line: string) => void} onLog
 * @returns {RedisProgram | undefined}
 */
function fromDataFolder(user, onLog) {
  const folder = join(findHome(DATA_DIR).directory, 'redis-programs');
  const present = unpackedIn(folder, user);
  if (present) return present;
  return unpackPackage('redis-server', folder, onLog) ? unpackedIn(folder, user) : undefined;
}

/** @returns {RedisProgram | undefined} */
function fromPath() {
  const command = (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => ['redis-server', 'valkey-server'].map((name) => join(folder, name)))
    .find(isExecutable);
  return command ? { command } : undefined;
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch (error) {
    if (['ENOENT', 'EACCES', 'ENOTDIR'].includes(codeOf(error) ?? '')) return false;
    throw error;
  }
}

/**
 * Returns the Redis of an unpacked package; undefined if there is none, or a user can't run it, as after an
 * upgrade of the system.
 *
 * @param {string} folder
 * @param {import('./home.mjs').User | undefined} user
 * @returns {RedisProgram | undefined}
 */
function unpackedIn(folder, user) {
  const libraries = ['usr/lib', 'lib']
    .map((path) => join(folder, path))
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path).map((name) => join(path, name)))
    .filter((path) => path.includes('-linux-'));
  const program = {
    command: join(folder, 'usr/bin/redis-server'),
    env: { LD_LIBRARY_PATH: libraries.join(delimiter) },
  };
  const env = { ...process.env, ...program.env };
  const { status } = spawnSync(program.command, ['--version'], { ...runAs(user), env, stdio: 'ignore' });
  return status === 0 ? program : undefined;
}

/**
 * Returns what to do on a machine without Redis.
 *
 * @param {string} platform
 */
export function adviceFor(platform) {
  const way =
    platform === 'darwin'
      ? 'install it with Homebrew: brew install redis'
      : 'install redis-server or valkey-server with your package manager, so that it is on PATH';
  return `No Redis found. Do one of these:\n  - ${way}\n  - set REDIS_URL to a Redis that runs already`;
}
