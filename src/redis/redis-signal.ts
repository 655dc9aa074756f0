import { Logger } from '@nestjs/common';
import { RedisSubscriber } from './redis-subscriber';
import { RedisClient } from './redis.module';

/** Tells every worker something over Redis. A lost signal costs time until the next poll, nothing else. */
export abstract class RedisSignal<Message> {
  private readonly logger = new Logger(this.constructor.name);

  protected constructor(
    private readonly redis: RedisClient,
    private readonly subscriber: RedisSubscriber,
    private readonly channel: string,
  ) {}

  /** Returns at once: no caller waits for Redis. */
  send(message: Message): void {
    if (!this.redis.isReady) return;
    this.redis
      .publish(this.channel, JSON.stringify(message))
      .catch((error: Error) => this.logger.warn({ err: error }, 'failed to signal the workers'));
  }

  /** Of any process. */
  onSignal(callback: (message: Message) => void): void {
    this.subscriber.listen(this.channel, (message) => callback(JSON.parse(message) as Message));
  }
}
