import { Injectable } from '@nestjs/common';
import { RedisClient } from '../../redis/redis.module';
import { ClaimedDelivery } from './claimed-delivery';
import { DeliveryQueue } from './delivery.queue';
import { DeliveryStore } from './delivery.store';

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

/** Keeps endpoints that have a rate of their own to it. Waiting costs no attempt and holds no place. */
@Injectable()
export class EndpointPace {
  private readonly take: TakeCommand;
  /** Endpoints whose second is used up, and when their next one begins. */
  private readonly usedUp = new Map<string, number>();

  constructor(
    redis: RedisClient,
    private readonly store: DeliveryStore,
    private readonly queue: DeliveryQueue,
  ) {
    redis.defineCommand('takePace', { numberOfKeys: 1, lua: TAKE });
    this.take = (redis as unknown as { takePace: TakeCommand }).takePace.bind(redis);
  }

  /** Of one endpoint's claimed deliveries, those that may go now. The others are given back, due in the next second. */
  async admit(claimed: ClaimedDelivery[]): Promise<ClaimedDelivery[]> {
    const [first] = claimed;
    if (!first?.rateLimit) return claimed;
    const [granted, remainingMs] = await this.take(
      `pace:${first.endpointId}`,
      first.rateLimit,
      claimed.length,
    );
    if (granted === claimed.length) return claimed;
    this.usedUp.set(first.endpointId, Date.now() + remainingMs);
    await this.store.postpone(claimed.slice(granted), remainingMs);
    this.queue.wakeIn(first.endpointId, remainingMs);
    return claimed.slice(0, granted);
  }

  /** Whether claiming is vain for now: however much is due, it would only be given back. */
  isUsedUp(endpointId: string): boolean {
    const until = this.usedUp.get(endpointId);
    if (until === undefined) return false;
    if (Date.now() < until) return true;
    this.usedUp.delete(endpointId);
    return false;
  }
}
