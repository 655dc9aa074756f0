import { BullModuleOptions } from '@nestjs/bull';
import Redis, { RedisOptions } from 'ioredis';
import { Config } from '../config/config';

/** A killed worker's jobs are taken up by another within 15 s; its locks are renewed every 5 s while it lives. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** Our jobs may run any number of times, so no number of killed workers makes one of them fail. */
const MAX_STALLED = 1_000_000;

/** After Redis refused to say what is next, as it does while it loads its data. */
const ASK_AGAIN_MS = 1_000;
/** Longer than a queue waits for a job in one go. A connection on which nothing comes back for so long is dead. */
const SILENCE_MS = 10_000;

/** How queues connect: through any outage of Redis, for as long as it takes. */
export function queueOptions({ redisUrl }: Config): BullModuleOptions {
  return {
    redis: connectionOf(redisUrl),
    settings: {
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MAX_STALLED,
      retryProcessDelay: ASK_AGAIN_MS,
    },
  };
}

/**
 * As options and not as connections, because Bull closes only those that it made itself. Read from the address by
 * ioredis: Bull's own reading knows nothing of TLS.
 */
function connectionOf(redisUrl: string): RedisOptions {
  const { options } = new Redis(redisUrl, { lazyConnect: true });
  return {
    ...options,
    lazyConnect: false,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
    socketTimeout: SILENCE_MS,
    retryStrategy: (times) => Math.min(times * 50, 1_000),
  };
}
