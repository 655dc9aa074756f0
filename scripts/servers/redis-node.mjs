import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, sleep } from '../processes.mjs';
import { makePrivate } from './home.mjs';
import { startRedis } from './redis.mjs';

const POLL_MS = 50;

/**
 * Folder, reaper and log of the servers of a test or of the benchmark.
 *
 * @typedef {object} ServerContext
 * @property {import('./home.mjs').Home} home
 * @property {import('../processes.mjs').Reaper} reaper
 * @property {(line: string) => void} onLog
 * @property {boolean} [disposable] speed before safety, the default
 */

/**
 * Redis server that can be killed and started again. Several share a password, as nodes of a cluster or as
 * primary and replica.
 */
export class RedisNode {
  /**
   * @param {import('./redis.mjs').RedisOptions & { port: number }} options
   * @param {Awaited<ReturnType<typeof startRedis>>} server
   */
  constructor(options, server) {
    this.options = options;
    this.server = server;
    this.client = clientOf(server.url);
  }

  /**
   * Starts a server on a free port.
   *
   * @param {ServerContext} context
   * @param {string} password
   * @param {(port: number) => Record<string, string>} settings of the server, beside the usual ones
   */
  static async start({ home, reaper, onLog, disposable = true }, password, settings) {
    const port = await freePort();
    const directory = join(home.directory, `redis-${port}`);
    makePrivate(directory, home.user);
    writeFileSync(join(directory, 'redis.password'), password, { mode: 0o600 });
    const options = {
      home: { ...home, directory },
      reaper,
      disposable,
      onLog,
      port,
      settings: { masterauth: password, 'repl-diskless-sync-delay': '0', ...settings(port) },
    };
    return new RedisNode(options, await startRedis(options));
  }

  get port() {
    return this.options.port;
  }

  /**
   * Tells whether a section of Redis's INFO contains a line, such as `role:master`.
   *
   * @param {string} section
   * @param {string} line
   */
  async reports(section, line) {
    return (await this.client.info(section)).includes(line);
  }

  async kill() {
    const { child } = this.server;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    this.options.reaper.release(child);
    this.client.disconnect();
  }

  async restart() {
    this.server = await startRedis(this.options);
    this.client = clientOf(this.server.url);
  }

  disconnect() {
    this.client.disconnect();
  }
}

/** @param {string} url */
function clientOf(url) {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  client.on('error', () => undefined); // while it is killed
  return client;
}

/**
 * Waits until `isTrue` resolves to true. A rejection counts as false.
 *
 * @param {() => Promise<boolean>} isTrue
 */
export async function until(isTrue) {
  while (!(await isTrue().catch(() => false))) await sleep(POLL_MS);
}
