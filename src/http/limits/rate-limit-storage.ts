import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ThrottlerStorage, ThrottlerStorageService } from '@nestjs/throttler';
import { Metrics } from '../../metrics/metrics';
import { RedisClient } from '../../redis/redis-client';

/** Time for which Redis is not tried after a failure: each try would cost a request up to 100 ms. */
const BREAKER_OPEN_MS = 2_000;

/**
 * Lua script that counts a call in a fixed window, which starts with its first call. It counts and sets the
 * expiry atomically: a process that died in between would leave a window without an end.
 */
const HIT = `
  local hits = redis.call('INCR', KEYS[1])
  local ttl = redis.call('PTTL', KEYS[1])
  if ttl < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    ttl = tonumber(ARGV[1])
  end
  return {hits, ttl}`;

const READ = `
  return {tonumber(redis.call('GET', KEYS[1]) or '0'), redis.call('PTTL', KEYS[1])}`;

/**
 * Lua script that takes one call back. It never goes below zero, and does nothing once the window has ended.
 */
const TAKE_BACK = `
  local hits = tonumber(redis.call('GET', KEYS[1]) or '0')
  if hits > 0 then redis.call('DECR', KEYS[1]) end
  return {hits, 0}`;

type ThrottlerStorageRecord = Awaited<ReturnType<ThrottlerStorage['increment']>>;
type HitCommand = (key: string, windowMs: number) => Promise<[number, number]>;
type ReadCommand = (key: string) => Promise<[number, number]>;

/** Counts calls in Redis, over all processes. While Redis is down, each process counts in memory. */
@Injectable()
export class RateLimitStorage implements ThrottlerStorage, OnApplicationShutdown {
  private readonly logger = new Logger(RateLimitStorage.name);
  private readonly inMemory = new ThrottlerStorageService();
  private readonly hit: HitCommand;
  private readonly look: ReadCommand;
  private readonly takeBack: HitCommand;
  private openUntil = 0;

  constructor(
    redis: RedisClient,
    private readonly metrics: Metrics,
  ) {
    this.hit = redis.script('hitWindow', HIT);
    this.look = redis.script('readWindow', READ);
    this.takeBack = redis.script('takeBackHit', TAKE_BACK);
  }

  /**
   * Counts one call.
   * @param ttl length of the window, in milliseconds
   * @returns the number of calls in the window, this one included, and the seconds until it ends
   */
  async increment(key: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    if (Date.now() < this.openUntil) return this.incrementInMemory(key, ttl, limit);
    try {
      const [hits, remainingMs] = await this.hit(`rate:${key}`, ttl);
      return toRecord(hits, limit, Math.ceil(remainingMs / 1000));
    } catch (error) {
      this.openUntil = Date.now() + BREAKER_OPEN_MS;
      this.metrics.rateLimiterFallbacks.inc();
      this.logger.warn({ err: error as Error }, 'Redis is down: this process counts calls in memory');
      return this.incrementInMemory(key, ttl, limit);
    }
  }

  /**
   * Reads a window without counting.
   * @returns null while Redis is down
   */
  async read(key: string): Promise<{ used: number; endsInSeconds: number } | null> {
    try {
      const [used, remainingMs] = await this.look(`rate:${key}`);
      return { used, endsInSeconds: Math.max(0, Math.ceil(remainingMs / 1000)) };
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'Redis is down: calls are not counted over all processes');
      return null;
    }
  }

  /**
   * Takes one call of the present window back; does nothing while Redis is down, when each process counts for
   * itself.
   */
  async decrement(key: string): Promise<void> {
    if (Date.now() < this.openUntil) return;
    try {
      await this.takeBack(`rate:${key}`, 0);
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'Redis is down: a call that should not count was counted');
    }
  }

  /** Stops the timers of the in-memory storage, whose own hook Nest does not call. */
  onApplicationShutdown(): void {
    this.inMemory.onApplicationShutdown();
  }

  private async incrementInMemory(key: string, ttl: number, limit: number): Promise<ThrottlerStorageRecord> {
    const record = await this.inMemory.increment(key, ttl, limit, 0, 'default');
    // Each call expires by itself: a blocked caller may retry when the oldest call has expired.
    const seconds = record.isBlocked ? record.timeToBlockExpire : record.timeToExpire;
    return toRecord(record.totalHits, limit, seconds);
  }
}

function toRecord(totalHits: number, limit: number, seconds: number): ThrottlerStorageRecord {
  const timeToExpire = Math.max(1, seconds);
  return { totalHits, timeToExpire, isBlocked: totalHits > limit, timeToBlockExpire: timeToExpire };
}
