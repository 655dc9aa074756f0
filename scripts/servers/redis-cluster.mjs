import { randomBytes } from 'node:crypto';
import { freePort, requireValue } from '../processes.mjs';
import { RedisNode, until } from './redis-node.mjs';

const PRIMARIES = 3;
const SLOTS = 16_384;
/**
 * Milliseconds without an answer after which a node counts as failed. About a second later its replica has
 * taken its place.
 */
const NODE_TIMEOUT_MS = 1_000;

/** A Redis Cluster of three primaries with a replica each. */
export class RedisCluster {
  /**
   * @param {RedisNode[]} nodes
   * @param {string} password
   */
  constructor(nodes, password) {
    this.nodes = nodes;
    this.password = password;
  }

  /**
   * Starts the nodes, joins them to a cluster, and waits until it serves all keys.
   *
   * @param {import('./redis-node.mjs').ServerContext} context
   */
  static async start(context) {
    const password = randomBytes(12).toString('hex');
    /** @type {Member[]} */
    const nodes = [];
    for (let n = 0; n < 2 * PRIMARIES; n++) {
      const busPort = await freePort();
      const settings = (/** @type {number} */ port) => ({
        'cluster-enabled': 'yes',
        'cluster-config-file': `nodes-${port}.conf`,
        'cluster-port': String(busPort),
        'cluster-node-timeout': String(NODE_TIMEOUT_MS),
      });
      const node = await RedisNode.start(context, password, settings);
      nodes.push(Object.assign(node, { busPort }));
    }
    await join(nodes);
    const cluster = new RedisCluster(nodes, password);
    await cluster.untilComplete();
    return cluster;
  }

  /** Address for the service's REDIS_URL: two of the nodes, from which a client finds the others. */
  get url() {
    const hosts = this.nodes.slice(0, 2).map(({ port }) => `127.0.0.1:${port}`);
    return `redis+cluster://:${this.password}@${hosts.join(',')}`;
  }

  /** Returns the nodes that are primaries now; a failover changes them. */
  async primaries() {
    const roles = await Promise.all(
      this.nodes.map((node) => node.reports('replication', 'role:master').catch(() => false)),
    );
    return this.nodes.filter((_, n) => roles[n]);
  }

  /**
   * Returns the node that is the primary of a key or of a pub/sub channel.
   *
   * @param {string} key
   */
  async primaryOf(key) {
    const [first] = await this.primaries();
    if (!first) throw new Error('The cluster has no primary.');
    const slot = await first.client.cluster('KEYSLOT', key);
    const ranges = await first.client.cluster('SLOTS');
    const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1];
    return requireValue(
      this.nodes.find((node) => node.port === port),
      `node at the port ${port}`,
    );
  }

  async flush() {
    for (const node of await this.primaries()) await node.client.flushall();
  }

  /** Waits until every node knows of a primary for each slot. */
  async untilComplete() {
    for (const { client } of this.nodes)
      await until(async () => {
        const info = await client.cluster('INFO');
        return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${SLOTS}`);
      });
  }

  disconnect() {
    for (const node of this.nodes) node.disconnect();
  }
}

/**
 * Node of a cluster with the port that the other nodes call.
 *
 * @typedef {RedisNode & { busPort: number }} Member
 */

/**
 * Joins running nodes to a cluster. The first half become primaries, the others their replicas.
 *
 * @param {Member[]} nodes
 */
async function join(nodes) {
  const [first, ...others] = nodes;
  if (!first) throw new Error('A cluster needs nodes.');
  for (const { client } of others)
    await client.call('CLUSTER', 'MEET', '127.0.0.1', first.port, first.busPort);
  for (const { client } of nodes)
    await until(async () => (await client.cluster('INFO')).includes(`cluster_known_nodes:${nodes.length}`));
  const [primaries, replicas] = [nodes.slice(0, PRIMARIES), nodes.slice(PRIMARIES)];
  const share = Math.ceil(SLOTS / PRIMARIES);
  for (const [n, { client }] of primaries.entries())
    await client.cluster('ADDSLOTSRANGE', n * share, Math.min(SLOTS, (n + 1) * share) - 1);
  for (const [n, { client }] of primaries.entries()) {
    const id = await client.cluster('MYID');
    const replica = requireValue(replicas[n], `replica of the primary ${n}`);
    await until(async () => (await replica.client.cluster('REPLICATE', id)) === 'OK');
  }
  for (const replica of replicas) await until(() => replica.reports('replication', 'master_link_status:up'));
}
