import { BullModuleOptions } from '@nestjs/bull';
import Redis, { RedisOptions } from 'ioredis';
import { Config } from '../config/config';
import { reconnectOnReadOnly } from '../redis/primary';

/** Another worker takes over a killed worker's jobs within 15 s; a live one renews its locks every 5 s. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** A job is safe to repeat, so it must not fail however many workers were killed. */
const MAX_STALLED = 1_000_000;

/** After an error of Redis, as while it loads its data. */
const RETRY_MS = 1_000;
/** Longer than Bull's blocking read. A connection without an answer for so long is dead. */
const SOCKET_TIMEOUT_MS = 10_000;

/** Queues reconnect through any outage of Redis. */
export function queueOptions({ redisUrl }: Config): BullModuleOptions {
  return {
    redis: connectionOptions(redisUrl),
    settings: {
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MAX_STALLED,
      retryProcessDelay: RETRY_MS,
    },
  };
}

/**
 * Options and not a connection, because Bull closes only connections that it made itself. ioredis parses the URL:
 * Bull's own parser does not support TLS.
 */
function connectionOptions(redisUrl: string): RedisOptions {
  const { options } = new Redis(redisUrl, { lazyConnect: true });
  return {
    ...options,
    lazyConnect: false,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    socketTimeout: SOCKET_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(times * 50, 1_000),
    reconnectOnError: reconnectOnReadOnly,
  };
}
