import { Injectable, Logger } from '@nestjs/common';
import { RedisSubscriber } from '../redis/redis-subscriber';
import { RedisClient } from '../redis/redis.module';

const CHANNEL = 'outbox:appended';

/** Wakes the relays over Redis when an event was appended. A lost signal costs time, never an event. */
@Injectable()
export class OutboxSignal {
  private readonly logger = new Logger(OutboxSignal.name);

  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** Returns at once: no caller waits for Redis. */
  send(): void {
    if (!this.redis.isReady) return;
    this.redis
      .publish(CHANNEL, '')
      .catch((error: Error) => this.logger.warn({ err: error }, 'failed to signal the relays'));
  }

  /** Of any process. */
  onSignal(callback: () => void): void {
    this.subscriber.listen(CHANNEL, callback);
  }
}
