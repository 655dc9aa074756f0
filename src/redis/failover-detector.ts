import type { Redis } from 'ioredis';

/** What ioredis leaves untyped of its own connector. */
interface SentinelConnector {
  failoverDetector: { cleanup(): void } | null;
}

/**
 * Ends a connection's subscriptions to the Sentinels before it reconnects. Once it has connected, it subscribes again.
 *
 * ioredis keeps them. When a Sentinel announces a new primary while another is asked for the address, ioredis takes the
 * announcement for a call of `disconnect()`, and the connection is never made again.
 */
export function endFailoverDetectorOnReconnect(redis: Redis): void {
  redis.on('reconnecting', () => (redis['connector'] as SentinelConnector).failoverDetector?.cleanup());
}
