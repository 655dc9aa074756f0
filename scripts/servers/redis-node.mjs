import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, sleep, startReaper } from '../processes.mjs';
import { findHome, makePrivate } from './home.mjs';
import { startRedis } from './redis.mjs';

const POLL_MS = 50;

/**
 * Where the servers of a test or of the benchmark run, and what ends them.
 *
 * @typedef {object} Place
 * @property {import('./home.mjs').Home} home
 * @property {import('../processes.mjs').Reaper} reaper
 * @property {(line: string) => void} onLog
 * @property {boolean} [disposable] speed before safety, the default
 */

/** One of several Redis servers with one password, which can be killed and brought back. */
export class RedisNode {
  /**
   * @param {Parameters<typeof startRedis>[0]} options
   * @param {Awaited<ReturnType<typeof startRedis>>} server
   */
  constructor(options, server) {
    this.options = options;
    this.server = server;
    this.client = clientOf(server.url);
  }

  /**
   * @param {Place} place
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

  /** @param {string} section of INFO @param {string} line */
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

function clientOf(url) {
  const client = new Redis(url, { maxRetriesPerRequest: null });
  client.on('error', () => undefined); // while it is killed
  return client;
}

/** @param {() => Promise<boolean>} isTrue asked again and again; a failure is a no */
export async function until(isTrue) {
  while (!(await isTrue().catch(() => false))) await sleep(POLL_MS);
}
