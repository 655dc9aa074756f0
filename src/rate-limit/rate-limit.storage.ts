import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ThrottlerStorage, ThrottlerStorageService } from '@nestjs/throttler';
import { Metrics } from '../metrics/metrics';
import { RedisClient } from '../redis/redis.module';

/** How long Redis is left alone after it failed to answer: each try costs a request up to 100 ms. */
const BREAKER_OPEN_MS = 2_000;

/**
 * A fixed window that starts with its first call. The count and its expiry are one step, so that no process that dies
 * between them can leave a window that never ends.
 */
const HIT = `
  local hits = redis.call('INCR', KEYS[1])
  local ttl = redis.call('PTTL', KEYS[1])
  if ttl < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    ttl = tonumber(ARGV[1])
  end
  return {hits, ttl}`;

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;
type HitCommand = (key: string, windowMs: number) => Promise<[number, number]>;

/**
 * Counts calls in Redis, for all processes together, in one round trip. While Redis does not answer, the throttler's
 * own in-memory storage stands in: each process then counts for itself.
 */
@Injectable()
export class RateLimitStorage implements ThrottlerStorage, OnApplicationShutdown {
  private readonly logger = new Logger(RateLimitStorage.name);
  private readonly inMemory = new ThrottlerStorageService();
  private readonly hit: HitCommand;
  private openUntil = 0;

  constructor(
    private readonly redis: RedisClient,
    private readonly metrics: Metrics,
  ) {
    redis.defineCommand('hitWindow', { numberOfKeys: 1, lua: HIT });
    this.hit = (redis as unknown as { hitWindow: HitCommand }).hitWindow.bind(redis);
  }

  /**
   * Counts one call in the window of `key`.
   * @param ttl the window, in milliseconds
   * @returns the calls so far, this one included, and the whole seconds until the window ends
   */
  async increment(key: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    if (Date.now() < this.openUntil) return this.incrementInMemory(key, ttl, limit);
    try {
      const [hits, remainingMs] = await this.redis.inTime(this.hit(`rate:${key}`, ttl));
      return toRecord(hits, limit, Math.ceil(remainingMs / 1000));
    } catch (error) {
      this.openUntil = Date.now() + BREAKER_OPEN_MS;
      this.metrics.rateLimiterFallbacks.inc();
      this.logger.warn(
        { err: error as Error },
        'Redis does not answer: calls are counted in this process alone',
      );
      return this.incrementInMemory(key, ttl, limit);
    }
  }

  /** Ends its timers: Nest does not know of it. */
  onApplicationShutdown(): void {
    this.inMemory.onApplicationShutdown();
  }

  private async incrementInMemory(key: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    const record = await this.inMemory.increment(key, ttl, limit, 0, 'default');
    // Each of its hits ends by itself: a refused caller may come back when the oldest has.
    const seconds = record.isBlocked ? record.timeToBlockExpire : record.timeToExpire;
    return toRecord(record.totalHits, limit, seconds);
  }
}

function toRecord(totalHits: number, limit: number, seconds: number): ThrottlerStorageRecord {
  const timeToExpire = Math.max(1, seconds);
  return { totalHits, timeToExpire, isBlocked: totalHits > limit, timeToBlockExpire: timeToExpire };
}
