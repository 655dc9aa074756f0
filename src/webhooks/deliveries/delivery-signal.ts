import { Injectable } from '@nestjs/common';
import { Target } from '../../queue/target';
import { RedisClient } from '../../redis/redis-client';
import { RedisSignal } from '../../redis/redis-signal';
import { WorkerShards } from '../../redis/worker-shards';

/** Names an endpoint to a worker, over Redis, when a delivery to it must not wait for the next poll. */
@Injectable()
export class DeliverySignal extends RedisSignal<Target> {
  constructor(redis: RedisClient, shards: WorkerShards) {
    super(redis, shards, 'deliveries:due');
  }

  send(target: Target): void {
    this.sendTo(target.tenantId, target);
  }
}
