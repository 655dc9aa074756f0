import { Injectable } from '@nestjs/common';
import { Target } from '../../queue/target';
import { RedisSignal } from '../../redis/redis-signal';
import { RedisSubscriber } from '../../redis/redis-subscriber';
import { RedisClient } from '../../redis/redis.module';

/** Names an endpoint to the workers, over Redis, when a delivery to it must not wait for the next poll. */
@Injectable()
export class DeliverySignal extends RedisSignal<Target> {
  constructor(redis: RedisClient, subscriber: RedisSubscriber) {
    super(redis, subscriber, 'deliveries:due');
  }
}
