import { Injectable } from '@nestjs/common';
import { RedisClient } from './redis.module';

/** Grants up to ARGV[2] of the ARGV[1] in a second, atomically. */
const ACQUIRE = `
  local used = tonumber(redis.call('GET', KEYS[1]) or '0')
  local granted = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - used))
  if granted > 0 then
    redis.call('INCRBY', KEYS[1], granted)
    if used == 0 then redis.call('PEXPIRE', KEYS[1], 1000) end
  end
  return {granted, redis.call('PTTL', KEYS[1])}`;

/** Does nothing when the second is over. */
const RELEASE = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DECRBY', KEYS[1], ARGV[1]) end`;

interface ThroughputCommands {
  acquireThroughput(key: string, rate: number, wanted: number): Promise<[number, number]>;
  releaseThroughput(key: string, count: number): Promise<null>;
}

export interface Granted {
  granted: number;
  /** Until more can be granted. */
  remainingMs: number;
}

/** Limits the rate for each target (an endpoint, a connection), over all processes. */
@Injectable()
export class ThroughputLimiter {
  private readonly commands: ThroughputCommands;

  constructor(redis: RedisClient) {
    redis.defineCommand('acquireThroughput', { numberOfKeys: 1, lua: ACQUIRE });
    redis.defineCommand('releaseThroughput', { numberOfKeys: 1, lua: RELEASE });
    this.commands = redis as unknown as ThroughputCommands;
  }

  async acquire(target: string, perSecond: number, wanted: number): Promise<Granted> {
    const [granted, remainingMs] = await this.commands.acquireThroughput(
      `throughput:${target}`,
      perSecond,
      wanted,
    );
    return { granted, remainingMs };
  }

  async release(target: string, count: number): Promise<void> {
    await this.commands.releaseThroughput(`throughput:${target}`, count);
  }
}
