import { Injectable } from '@nestjs/common';
import { RedisSignal } from '../redis/redis-signal';
import { RedisSubscriber } from '../redis/redis-subscriber';
import { RedisClient } from '../redis/redis.module';

/** Names a workspace to the relays, over Redis, when an event was appended. */
@Injectable()
export class OutboxSignal extends RedisSignal<string> {
  constructor(redis: RedisClient, subscriber: RedisSubscriber) {
    super(redis, subscriber, 'outbox:appended');
  }
}
