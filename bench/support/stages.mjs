import { Redis } from 'ioredis';
import { startPgBouncer } from '../../scripts/servers/pgbouncer.mjs';
import { RedisCluster } from '../../scripts/servers/redis-cluster.mjs';

/** In PgBouncer. */
const SERVER_CONNECTIONS = 20;

/**
 * The servers that a deployment's processes use.
 *
 * @typedef {object} Stage
 * @property {string} name
 * @property {Record<string, string>} env what the processes get
 * @property {import('./shared-parts.mjs').SharedParts} parts
 * @property {() => Promise<void> | void} stop ends what was started for it
 */

/** One PostgreSQL and one Redis. @returns {Stage} */
export function oneServerEach(deployment) {
  const redis = new Redis(deployment.redisUrl);
  return {
    name: 'one server',
    env: {},
    parts: { deployment, nodes: [redis] },
    stop: () => redis.disconnect(),
  };
}

/** The same PostgreSQL, and a Redis Cluster of three primaries with a replica each. @returns {Promise<Stage>} */
export async function withCluster(deployment) {
  const { home, reaper } = deployment.environment.servers;
  const cluster = await RedisCluster.start({ home, reaper, onLog: () => undefined, disposable: false });
  return {
    name: 'Redis Cluster',
    env: { REDIS_URL: cluster.url },
    parts: { deployment, nodes: cluster.nodes.map(({ client }) => client) },
    stop: async () => void (await Promise.all(cluster.nodes.map((node) => node.kill()))),
  };
}

/** The same servers, with PgBouncer before PostgreSQL. @returns {Promise<Stage>} */
export async function withPooler(deployment) {
  const { home, reaper } = deployment.environment.servers;
  const one = oneServerEach(deployment);
  const pooler = await startPgBouncer({
    urls: [deployment.databaseUrl],
    home,
    reaper,
    serverConnections: SERVER_CONNECTIONS,
  });
  return {
    name: 'PgBouncer',
    env: {
      DATABASE_URL: pooler.through(deployment.databaseUrl),
      DATABASE_PREPARED: pooler.isPrepared ? 'on' : 'off',
    },
    parts: { ...one.parts, pooler: pooler.child.pid },
    stop() {
      one.stop();
      pooler.child.kill('SIGINT');
      reaper.release(pooler.child);
    },
  };
}
