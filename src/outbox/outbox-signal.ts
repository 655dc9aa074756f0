import { Injectable } from '@nestjs/common';
import { RedisClient } from '../redis/redis-client';
import { RedisSignal } from '../redis/redis-signal';
import { WorkerShards } from '../redis/worker-shards';

/** Names a workspace to a relay, over Redis, when an event was appended. */
@Injectable()
export class OutboxSignal extends RedisSignal<string> {
  constructor(redis: RedisClient, shards: WorkerShards) {
    super(redis, shards, 'outbox:appended');
  }

  send(tenantId: string): void {
    this.sendTo(tenantId, tenantId);
  }
}
