import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Redis } from 'ioredis';
import { codeOf, freePort, LauncherError } from '../processes.mjs';
import { installPackage } from './apt.mjs';
import { makePrivate } from './home.mjs';
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
  const command = redisCommand(onLog);
  const data = join(home.directory, 'redis');
  makePrivate(data, home.user);
  const pidFile = join(data, 'redis.pid');
  await clearOrphan(pidFile, data);

  const port = wantedPort ?? (await freePort());
  const password = keptPassword(join(home.directory, 'redis.password'), home.user);
  const { child, ended } = spawnServer({
    name: 'Redis',
    command,
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
 * Returns the path of Redis's server program, which it installs if it is missing.
 *
 * @param {(line: string) => void} onLog
 */
export function redisCommand(onLog) {
  return findRedis() ?? installRedis(onLog);
}

function findRedis() {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((folder) => ['redis-server', 'valkey-server'].map((name) => join(folder, name)))
    .find(isExecutable);
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
 * Installs Debian's package of Redis, and returns the path of its server: npm has no package with one.
 *
 * @param {(line: string) => void} onLog
 */
function installRedis(onLog) {
  const command = installPackage('redis-server', onLog) ? findRedis() : undefined;
  if (command) return command;
  throw new LauncherError(
    'No Redis found. Do one of these:\n' +
      '  - install it with your package manager, for example: sudo apt-get install redis-server\n' +
      '    (valkey-server does as well; either has to be on PATH)\n' +
      '  - set REDIS_URL to a Redis that runs already',
  );
}
