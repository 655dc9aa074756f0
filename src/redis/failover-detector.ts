import type { Redis } from 'ioredis';

/** Part of ioredis's own Sentinel connector that its types leave out. */
interface SentinelConnector {
  failoverDetector: { cleanup(): void } | null;
}

/**
 * Ends a connection's subscriptions to the Sentinels before the connection is made again; a new connection
 * subscribes again.
 *
 * ioredis keeps the subscriptions. If a Sentinel announces a new primary while another one is asked for the
 * address, ioredis takes the announcement for a call of `disconnect()`, and never reconnects.
 */
export function endFailoverDetectorOnReconnect(redis: Redis): void {
  redis.on('reconnecting', () => (redis['connector'] as SentinelConnector).failoverDetector?.cleanup());
}
