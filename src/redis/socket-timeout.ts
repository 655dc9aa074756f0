import type Redis from 'ioredis';

/**
 * Clears the timer of `socketTimeout` when a connection closes. ioredis leaves it running (redis/ioredis#2147): it
 * would close the next connection, or keep the process alive.
 */
export function clearSocketTimeoutOnClose(redis: Redis): void {
  redis.on('close', () => {
    clearTimeout(redis['socketTimeoutTimer'] as NodeJS.Timeout | undefined);
    redis['socketTimeoutTimer'] = undefined;
  });
}
