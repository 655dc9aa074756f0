import { Injectable } from '@nestjs/common';
import { RedisClient } from './redis.module';

/** Grants up to ARGV[2] of the ARGV[1] that a second has room for, over all processes, in one step. */
const TAKE = `
  local used = tonumber(redis.call('GET', KEYS[1]) or '0')
  local granted = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - used))
  if granted > 0 then
    redis.call('INCRBY', KEYS[1], granted)
    if used == 0 then redis.call('PEXPIRE', KEYS[1], 1000) end
  end
  return {granted, redis.call('PTTL', KEYS[1])}`;

/** What was not made use of is there for others, unless its second is over. */
const GIVE_BACK = `if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('DECRBY', KEYS[1], ARGV[1]) end`;

interface ThroughputCommands {
  takeThroughput(key: string, rate: number, wanted: number): Promise<[number, number]>;
  giveBackThroughput(key: string, count: number): Promise<null>;
}

/** How many of those wanted may go now, and when the others may. */
export interface Granted {
  granted: number;
  remainingMs: number;
}

/** Keeps what goes to one target to a rate of so many a second, over all processes. */
@Injectable()
export class ThroughputLimiter {
  private readonly commands: ThroughputCommands;

  constructor(redis: RedisClient) {
    redis.defineCommand('takeThroughput', { numberOfKeys: 1, lua: TAKE });
    redis.defineCommand('giveBackThroughput', { numberOfKeys: 1, lua: GIVE_BACK });
    this.commands = redis as unknown as ThroughputCommands;
  }

  async take(target: string, perSecond: number, wanted: number): Promise<Granted> {
    const [granted, remainingMs] = await this.commands.takeThroughput(`pace:${target}`, perSecond, wanted);
    return { granted, remainingMs };
  }

  async giveBack(target: string, count: number): Promise<void> {
    await this.commands.giveBackThroughput(`pace:${target}`, count);
  }
}
