import { BullModule, type BullModuleOptions } from '@nestjs/bull';
import type { DynamicModule } from '@nestjs/common';
import type Redis from 'ioredis';
import { RedisConnections } from '../redis/redis-connections';

/**
 * Milliseconds for which a worker locks a job. The worker renews the lock every 5 s, so a lock ends only if
 * its worker was killed. Another worker takes over the job within 15 s.
 */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** Number of workers that may be killed while they do a job before Bull fails it. Jobs are safe to repeat. */
const MAX_STALLED = 1_000_000;

/** Milliseconds before the next try after an error of Redis, such as `LOADING`. */
const RETRY_MS = 1_000;
/** Milliseconds without an answer after which a connection counts as dead. Bull's reads end sooner. */
const SOCKET_TIMEOUT_MS = 10_000;

/** Registers a Bull queue that reconnects after any outage of Redis. */
export function registerQueue(name: string): DynamicModule {
  return BullModule.registerQueueAsync({
    name,
    inject: [RedisConnections],
    useFactory: (connections: RedisConnections) => queueOptions(name, connections),
  });
}

export function queueOptions(name: string, connections: RedisConnections): BullModuleOptions {
  return {
    // In a Redis Cluster all keys of a queue must be on one node: the hash tag `{name}` puts them there.
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

/** Connects a queue. All queues share one connection for commands and one for Bull's signals. */
function connect(connections: RedisConnections, type: 'client' | 'subscriber' | 'bclient'): Redis {
  const options = {
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    socketTimeout: SOCKET_TIMEOUT_MS,
    // Bull hides the READONLY error of MULTI, so only a probe detects that the server is a replica.
    probesForPrimary: type === 'client',
  };
  const connection =
    type === 'bclient' ? connections.connect(options) : connections.connectOnce(`queues: ${type}`, options);
  return connection as Redis; // Bull's types do not know a Redis Cluster, but its code does
}
