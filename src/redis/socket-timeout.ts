import type Redis from 'ioredis';

/**
 * Stops the timer of `socketTimeout` with its connection. ioredis lets it run on: it would cut the next connection, which
 * is sound, or keep a process from ending.
 */
export function clearSocketTimeoutOnClose(redis: Redis): void {
  redis.on('close', () => {
    clearTimeout(redis['socketTimeoutTimer'] as NodeJS.Timeout | undefined);
    redis['socketTimeoutTimer'] = undefined;
  });
}
