import { randomBytes } from 'node:crypto';
import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort, requireValue } from '../../scripts/processes.mjs';
import { makePrivate } from '../../scripts/servers/home.mjs';
import { findRedis } from '../../scripts/servers/redis.mjs';
import { spawnServer } from '../../scripts/servers/server-process.mjs';
import { RedisNode, until } from '../../scripts/servers/redis-node.mjs';

const NAME = 'messaging';
const SENTINELS = 3;
const QUORUM = 2;
const DOWN_AFTER_MS = 1_000;

/** One Sentinel, which can be made to hang. */
class RedisSentinel {
  /**
   * @param {number} port
   * @param {import('node:child_process').ChildProcess} child
   * @param {Redis} client
   */
  constructor(port, child, client) {
    this.port = port;
    this.child = child;
    this.client = client;
  }

  /**
   * Starts a Sentinel.
   *
   * @param {import('../../scripts/servers/redis-node.mjs').ServerContext} context
   * @param {number} primaryPort
   * @param {string} password
   */
  static async start({ home, reaper, onLog }, primaryPort, password) {
    const port = await freePort();
    const directory = join(home.directory, `sentinel-${port}`);
    makePrivate(directory, home.user);
    // A Sentinel stores its state in its configuration file.
    const file = join(directory, 'sentinel.conf');
    const lines = [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir "${directory}"`,
      `sentinel monitor ${NAME} 127.0.0.1 ${primaryPort} ${QUORUM}`,
      `sentinel auth-pass ${NAME} ${password}`,
      `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
      `sentinel failover-timeout ${NAME} 5000`,
      '',
    ];
    writeFileSync(file, lines.join('\n'), { mode: 0o600 });
    if (home.user) chownSync(file, home.user.uid, home.user.gid);
    const { child, ended } = spawnServer({
      name: 'Redis Sentinel',
      ...findRedis(home.user, onLog),
      args: [file, '--sentinel'],
      logFile: join(directory, 'sentinel.log'),
      user: home.user,
    });
    reaper.adopt(child, 'SIGTERM');
    const client = new Redis({
      port,
      host: '127.0.0.1',
      retryStrategy: () => 25,
      maxRetriesPerRequest: null,
    });
    client.on('error', () => undefined); // refused until it listens; a real fault ends the process
    await Promise.race([client.ping(), ended]);
    return new RedisSentinel(port, child, client);
  }

  /** Stops answering, without closing a connection, until `resume()`. */
  hang() {
    this.child.kill('SIGSTOP');
  }

  resume() {
    this.child.kill('SIGCONT');
  }

  disconnect() {
    this.client.disconnect();
  }
}

/** A Redis primary with a replica, and three Sentinels that watch them. */
export class RedisSentinels {
  /** @param {RedisNode[]} nodes @param {RedisSentinel[]} sentinels @param {string} password */
  constructor(nodes, sentinels, password) {
    this.nodes = nodes;
    this.sentinels = sentinels;
    this.password = password;
  }

  /**
   * Starts the servers.
   * @param {import('../../scripts/servers/redis-node.mjs').ServerContext} context
   */
  static async start(context) {
    const password = randomBytes(12).toString('hex');
    const primary = await RedisNode.start(context, password, () => ({}));
    const replica = await RedisNode.start(context, password, () => ({
      replicaof: `127.0.0.1 ${primary.port}`,
    }));
    await until(() => replica.reports('replication', 'master_link_status:up'));
    const sentinels = [];
    for (let n = 0; n < SENTINELS; n++)
      sentinels.push(await RedisSentinel.start(context, primary.port, password));
    const all = new RedisSentinels([primary, replica], sentinels, password);
    await all.untilComplete();
    return all;
  }

  /** Address of the primary by way of the Sentinels, for the service. */
  get url() {
    const hosts = this.sentinels.map(({ port }) => `127.0.0.1:${port}`);
    return `redis+sentinel://:${this.password}@${hosts.join(',')}/${NAME}`;
  }

  /** Returns the node that the Sentinels call the primary. */
  async primary() {
    const { client } = requireValue(this.sentinels[0], 'Sentinel');
    const answer = await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME);
    const [, port] = /** @type {string[]} */ (answer);
    return requireValue(
      this.nodes.find((node) => node.port === Number(port)),
      `node at the port ${port}`,
    );
  }

  async flush() {
    const { client } = await this.primary();
    await client.flushall();
  }

  /** Waits until each Sentinel knows the replica and the other Sentinels. */
  async untilComplete() {
    for (const { client } of this.sentinels)
      await until(async () => {
        const state = fieldsOf(/** @type {string[]} */ (await client.call('SENTINEL', 'MASTER', NAME)));
        return state['num-slaves'] === '1' && state['num-other-sentinels'] === String(SENTINELS - 1);
      });
  }

  disconnect() {
    for (const one of [...this.nodes, ...this.sentinels]) one.disconnect();
  }
}

/**
 * Turns a list of alternating names and values into an object.
 * @param {string[]} answer
 */
function fieldsOf(answer) {
  return Object.fromEntries(answer.flatMap((name, n) => (n % 2 === 0 ? [[name, answer[n + 1]]] : [])));
}
