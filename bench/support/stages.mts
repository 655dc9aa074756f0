import { Redis } from 'ioredis';
import { startPgBouncer } from '../../scripts/servers/pgbouncer.mjs';
import { RedisCluster } from '../../scripts/servers/redis-cluster.mjs';
import type { Deployment } from './deployment.mts';
import type { SharedParts } from './shared-parts.mts';

/** Number of PgBouncer's connections to PostgreSQL. */
const SERVER_CONNECTIONS = 20;

/**
 * Set of servers that the service's processes use in one measurement, such as a Redis Cluster in place of one
 * Redis.
 */
export interface Stage {
  name: string;
  /** Environment variables that lead the service's processes to these servers. */
  env: Record<string, string>;
  parts: SharedParts;
  /** Ends the servers that were started for this stage, and its connections. */
  stop: () => Promise<void>;
}

/** Returns the stage of the deployment's own PostgreSQL and Redis. */
export function oneServerEach(deployment: Deployment): Stage {
  const redis = new Redis(deployment.redisUrl);
  return {
    name: 'one server',
    env: {},
    parts: { deployment, nodes: [redis] },
    stop: () => Promise.resolve(redis.disconnect()),
  };
}

/** Starts a Redis Cluster of three primaries with a replica each. PostgreSQL stays the deployment's. */
export async function withCluster(deployment: Deployment): Promise<Stage> {
  const { home, reaper } = deployment.environment.servers;
  const cluster = await RedisCluster.start({ home, reaper, onLog: () => undefined, disposable: false });
  return {
    name: 'Redis Cluster',
    env: { REDIS_URL: cluster.url },
    parts: { deployment, nodes: cluster.nodes.map(({ client }) => client) },
    stop: async () => void (await Promise.all(cluster.nodes.map((node) => node.kill()))),
  };
}

/** Starts PgBouncer before the deployment's PostgreSQL. Redis stays the deployment's. */
export async function withPooler(deployment: Deployment): Promise<Stage> {
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
    async stop() {
      await one.stop();
      pooler.child.kill('SIGINT');
      reaper.release(pooler.child);
    },
  };
}
