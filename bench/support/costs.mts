import type { Consumption } from './shared-parts.mts';

/** Costs of one message, one delivery or one second. Times are microseconds. */
export interface Costs {
  /** Processor time of all shared parts. */
  sharedUs: number;
  postgresUs: number;
  transactions: number;
  /** New connections of PostgreSQL. */
  connections: number;
  /** Bytes. */
  wal: number;
  redisUs: number;
  /** The node of a Cluster with most work. */
  busiestNodeUs: number;
  commands: number;
  /** Bytes to and from Redis. */
  traffic: number;
  poolerUs: number;
}

/** Divides a consumption by the number of what it was for. */
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
