import { Injectable, Logger } from '@nestjs/common';
import { RedisSubscriber } from '../redis/redis-subscriber';
import { RedisClient } from '../redis/redis.module';

const CHANNEL = 'outbox:appended';

/** Tells the relays, over Redis, that something was appended. A lost signal costs time, never an event. */
@Injectable()
export class OutboxSignal {
  private readonly logger = new Logger(OutboxSignal.name);

  constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** Returns at once: nobody waits for Redis. */
  send(): void {
    if (!this.redis.isReady) return;
    this.redis
      .publish(CHANNEL, '')
      .catch((error: Error) => this.logger.warn({ err: error }, 'no wake-up sent'));
  }

  /** Calls back whenever something was appended by any process. */
  onSignal(callback: () => void): void {
    this.subscriber.listen(CHANNEL, callback);
  }
}
