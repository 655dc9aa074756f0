import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../metrics/metrics';
import { RedisClient } from './redis-client';

/** Milliseconds for which Redis is not asked after a failure, because a request may wait 100 ms for it. */
const BREAKER_OPEN_MS = 2_000;

/**
 * Lua script that adds ARGV[2] to the count of a window that lasts ARGV[1] ms from its first count. ARGV[3],
 * if given, is the largest count, so that the script adds less if ARGV[2] would exceed it. The script also
 * sets the expiry, because a process that died after the count alone would leave a window without an end.
 */
const ACQUIRE = `
  local granted = tonumber(ARGV[2])
  if ARGV[3] then
    local left = tonumber(ARGV[3]) - tonumber(redis.call('GET', KEYS[1]) or '0')
    granted = math.max(0, math.min(granted, left))
  end
  local used = redis.call('INCRBY', KEYS[1], granted)
  local ttl = redis.call('PTTL', KEYS[1])
  if ttl < 0 then
    redis.call('PEXPIRE', KEYS[1], ARGV[1])
    ttl = tonumber(ARGV[1])
  end
  return {used, granted, ttl}`;

/** Lua script that subtracts ARGV[1] from the count of a window that has not ended, at most down to 0. */
const GIVE_BACK = `
  local used = tonumber(redis.call('GET', KEYS[1]) or '0')
  if used > 0 then redis.call('DECRBY', KEYS[1], math.min(used, tonumber(ARGV[1]))) end
  return used`;

const READ = `
  return {tonumber(redis.call('GET', KEYS[1]) or '0'), redis.call('PTTL', KEYS[1])}`;

interface WindowLimit {
  windowMs: number;
  /** Limit of the count; without it, every amount is granted. */
  max?: number;
}

interface Acquired {
  /** Count of the window, including the amount that was granted now. */
  used: number;
  granted: number;
  endsInMs: number;
}

/**
 * Counts by key in windows of a fixed length, over all processes together. While Redis is down, each process
 * counts in its own memory, so that N processes together allow N times the limit.
 */
@Injectable()
export class FixedWindows {
  private readonly logger = new Logger(FixedWindows.name);
  private readonly inMemory = new MemoryWindows();
  private readonly acquireScript: (key: string, ...values: number[]) => Promise<[number, number, number]>;
  private readonly giveBackScript: (key: string, count: number) => Promise<number>;
  private readonly readScript: (key: string) => Promise<[number, number]>;
  private openUntil = 0;

  constructor(
    redis: RedisClient,
    private readonly metrics: Metrics,
  ) {
    this.acquireScript = redis.script('acquireWindow', ACQUIRE);
    this.giveBackScript = redis.script('giveBackWindow', GIVE_BACK);
    this.readScript = redis.script('readWindow', READ);
  }

  /** Adds `wanted` to the count of the key's window, or less if the sum would exceed the limit. */
  async acquire(key: string, limit: WindowLimit, wanted = 1): Promise<Acquired> {
    const { windowMs, max } = limit;
    const values = max === undefined ? [windowMs, wanted] : [windowMs, wanted, max];
    const reply = await this.tryRedis(() => this.acquireScript(key, ...values));
    if (!reply) return this.inMemory.acquire(key, limit, wanted);
    const [used, granted, endsInMs] = reply;
    return { used, granted, endsInMs };
  }

  /** Subtracts an acquired amount that was not used; does nothing once the window has ended. */
  async giveBack(key: string, count = 1): Promise<void> {
    const reply = await this.tryRedis(() => this.giveBackScript(key, count));
    if (reply === null) this.inMemory.giveBack(key, count);
  }

  /**
   * Reads a window without counting.
   * @returns null while Redis is down, because then each process counts for itself
   */
  async read(key: string): Promise<Omit<Acquired, 'granted'> | null> {
    const reply = await this.tryRedis(() => this.readScript(key));
    return reply && { used: reply[0], endsInMs: Math.max(0, reply[1]) };
  }

  /** Runs a command, and returns null if Redis is down. */
  private async tryRedis<Reply>(command: () => Promise<Reply>): Promise<Reply | null> {
    if (Date.now() < this.openUntil) return null;
    try {
      return await command();
    } catch (error) {
      this.openUntil = Date.now() + BREAKER_OPEN_MS;
      this.metrics.rateLimiterFallbacks.inc();
      this.logger.warn({ err: error as Error }, 'Redis is down: this process counts calls in memory');
      return null;
    }
  }
}

/** Counts in windows of this process alone. It deletes each window at its end. */
class MemoryWindows {
  private readonly windows = new Map<string, { used: number; endsAt: number }>();

  acquire(key: string, { windowMs, max = Infinity }: WindowLimit, wanted: number): Acquired {
    const window = this.windows.get(key) ?? this.open(key, windowMs);
    const granted = Math.max(0, Math.min(wanted, max - window.used));
    window.used += granted;
    const endsInMs = Math.max(0, Math.ceil(window.endsAt - performance.now()));
    return { used: window.used, granted, endsInMs };
  }

  giveBack(key: string, count: number): void {
    const window = this.windows.get(key);
    if (window) window.used = Math.max(0, window.used - count);
  }

  private open(key: string, windowMs: number): { used: number; endsAt: number } {
    const window = { used: 0, endsAt: performance.now() + windowMs };
    this.windows.set(key, window);
    setTimeout(() => this.windows.delete(key), windowMs).unref();
    return window;
  }
}
