import { BullModule, type BullModuleOptions } from '@nestjs/bull';
import type { DynamicModule } from '@nestjs/common';
import type Redis from 'ioredis';
import { RedisConnections } from '../redis/redis-connections';

/**
 * Life of a job's lock, which its worker renews every 5 s. Another worker takes over a killed one's jobs
 * within 15 s.
 */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/**
 * Number of times that a job may be taken over. A job is safe to repeat, so it must not fail however many
 * workers were killed.
 */
const MAX_STALLED = 1_000_000;

/** Wait after an error of Redis, such as the one while it loads its data. */
const RETRY_MS = 1_000;
/** Time without an answer after which a connection is dead. It is longer than Bull's blocking read. */
const SOCKET_TIMEOUT_MS = 10_000;

/** Registers a Bull queue that reconnects through any outage of Redis. */
export function registerQueue(name: string): DynamicModule {
  return BullModule.registerQueueAsync({
    name,
    inject: [RedisConnections],
    useFactory: (connections: RedisConnections) => queueOptions(name, connections),
  });
}

export function queueOptions(name: string, connections: RedisConnections): BullModuleOptions {
  return {
    // In a Cluster a queue's keys must be on one node; with a tag of its own each queue has its node.
    ...(connections.isCluster && { prefix: `{${name}}` }),
    createClient: (type) => connect(connections, type),
    settings: {
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MAX_STALLED,
      retryProcessDelay: RETRY_MS,
    },
  };
}

function connect(connections: RedisConnections, type: 'client' | 'subscriber' | 'bclient'): Redis {
  const connection = connections.connect({
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // Bull hides READONLY in the answer of a transaction.
    probesForPrimary: type === 'client',
  });
  return connection as Redis; // Bull's types know no Cluster, Bull does
}
