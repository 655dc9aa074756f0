import { Injectable } from '@nestjs/common';
import { RedisClient } from './redis-client';

const WINDOW_MS = 1_000;

/** Lua script that grants up to ARGV[2] of the ARGV[1] permits of a second, atomically. */
const ACQUIRE = `
  local used = tonumber(redis.call('GET', KEYS[1]) or '0')
  local granted = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - used))
  if granted > 0 then
    redis.call('INCRBY', KEYS[1], granted)
    if used == 0 then redis.call('PEXPIRE', KEYS[1], ${WINDOW_MS}) end
  end
  return {granted, redis.call('PTTL', KEYS[1])}`;

/** Lua script that gives ARGV[1] permits back, unless their second is over. */
const RELEASE = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DECRBY', KEYS[1], ARGV[1]) end`;

export interface Granted {
  granted: number;
  /** Time until more can be granted. */
  remainingMs: number;
}

/**
 * Limits the rate for each target (an endpoint, a connection), over all processes. While Redis is down each
 * process counts for itself, so the rate is at most the limit times the number of processes.
 */
@Injectable()
export class ThroughputLimiter {
  private readonly own = new OwnWindow();
  private readonly acquireInRedis: (key: string, rate: number, wanted: number) => Promise<[number, number]>;
  private readonly releaseInRedis: (key: string, count: number) => Promise<null>;

  constructor(redis: RedisClient) {
    this.acquireInRedis = redis.script('acquireThroughput', ACQUIRE);
    this.releaseInRedis = redis.script('releaseThroughput', RELEASE);
  }

  async acquire(target: string, perSecond: number, wanted: number): Promise<Granted> {
    try {
      const [granted, remainingMs] = await this.acquireInRedis(`throughput:${target}`, perSecond, wanted);
      return { granted, remainingMs };
    } catch {
      // RedisClient has logged why.
      return this.own.acquire(target, perSecond, wanted);
    }
  }

  async release(target: string, count: number): Promise<void> {
    try {
      await this.releaseInRedis(`throughput:${target}`, count);
    } catch {
      this.own.release(target, count);
    }
  }
}

/**
 * Counts what this process was granted in the current second. It forgets all targets at once, so it stays
 * small.
 */
class OwnWindow {
  private readonly used = new Map<string, number>();
  private endsAt = 0;

  acquire(target: string, perSecond: number, wanted: number): Granted {
    const now = performance.now();
    if (now >= this.endsAt) {
      this.used.clear();
      this.endsAt = now + WINDOW_MS;
    }
    const used = this.used.get(target) ?? 0;
    const granted = Math.max(0, Math.min(wanted, perSecond - used));
    this.used.set(target, used + granted);
    return { granted, remainingMs: Math.ceil(this.endsAt - now) };
  }

  release(target: string, count: number): void {
    this.used.set(target, Math.max(0, (this.used.get(target) ?? 0) - count));
  }
}
