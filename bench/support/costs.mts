import type { Consumption } from './shared-parts.mts';

/** Costs of one message, one delivery or one second. Times are microseconds. */
export interface Costs {
  /** Microseconds of processor time of PostgreSQL, Redis and PgBouncer together. */
  sharedUs: number;
  postgresUs: number;
  transactions: number;
  /** New connections of PostgreSQL. */
  connections: number;
  /** Bytes of write-ahead log. */
  wal: number;
  redisUs: number;
  /** Microseconds of processor time of the Redis server with the most; a Redis Cluster has several. */
  busiestNodeUs: number;
  commands: number;
  /** Bytes to and from Redis. */
  traffic: number;
  poolerUs: number;
}

/** Divides the consumption of the shared servers by the number of messages or seconds in which they did. */
export function costsOf({ postgres, redis, busiestNode, pooler }: Consumption, count: number): Costs {
  return {
    sharedUs: ((postgres.ms + redis.ms + pooler.ms) * 1000) / count,
    postgresUs: (postgres.ms * 1000) / count,
    transactions: postgres.transactions / count,
    connections: postgres.connections / count,
    wal: postgres.bytes / count,
    redisUs: (redis.ms * 1000) / count,
    busiestNodeUs: (busiestNode.ms * 1000) / count,
    commands: redis.commands / count,
    traffic: redis.bytes / count,
    poolerUs: (pooler.ms * 1000) / count,
  };
}
