import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../redis/redis.module';
import { ClaimedDelivery } from './claimed-delivery';

/** Grants up to ARGV[2] of the ARGV[1] deliveries that a second has room for, over all workers, in one step. */
const TAKE = `
  local used = tonumber(redis.call('GET', KEYS[1]) or '0')
  local granted = math.max(0, math.min(tonumber(ARGV[2]), tonumber(ARGV[1]) - used))
  if granted > 0 then
    redis.call('INCRBY', KEYS[1], granted)
    if used == 0 then redis.call('PEXPIRE', KEYS[1], 1000) end
  end
  return {granted, redis.call('PTTL', KEYS[1])}`;

type TakeCommand = (key: string, rate: number, wanted: number) => Promise<[number, number]>;

/** Keeps endpoints that have a rate of their own to it, over all workers. */
@Injectable()
export class EndpointPace {
  private readonly takePace: TakeCommand;

  constructor(redis: RedisClient) {
    redis.defineCommand('takePace', { numberOfKeys: 1, lua: TAKE });
    this.takePace = (redis as unknown as { takePace: TakeCommand }).takePace.bind(redis);
  }

  /** How many of an endpoint's deliveries may go now, of those wanted, and when the others may. */
  async take(
    { endpointId, rateLimit }: Pick<ClaimedDelivery, 'endpointId' | 'rateLimit'>,
    wanted: number,
  ): Promise<{ granted: number; remainingMs: number }> {
    if (rateLimit === null) return { granted: wanted, remainingMs: 0 };
    const [granted, remainingMs] = await this.takePace(`pace:${endpointId}`, rateLimit, wanted);
    return { granted, remainingMs };
  }
}
