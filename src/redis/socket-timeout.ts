import type Redis from 'ioredis';

/**
 * Clears the timer of `socketTimeout` when a connection closes. ioredis 5 leaves the timer running
 * (redis/ioredis#2147, fixed in 6.0.0, which Bull 4 cannot use): it would close the next connection, or keep
 * the process alive.
 */
export function clearSocketTimeoutOnClose(redis: Redis): void {
  redis.on('close', () => {
    clearTimeout(redis['socketTimeoutTimer'] as NodeJS.Timeout | undefined);
    redis['socketTimeoutTimer'] = undefined;
  });
}
