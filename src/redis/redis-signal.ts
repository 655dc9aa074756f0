import { Logger } from '@nestjs/common';
import { RedisClient } from './redis-client';
import { channelOf, WorkerShards } from './worker-shards';

/**
 * Tells a worker something about a workspace over Redis. A lost signal only delays work until the next poll.
 */
export abstract class RedisSignal<Message> {
  private readonly logger = new Logger(this.constructor.name);

  protected constructor(
    private readonly redis: RedisClient,
    private readonly shards: WorkerShards,
    private readonly name: string,
  ) {}

  /** Listens to the signals of all processes. */
  onSignal(callback: (message: Message) => void): void {
    this.shards.listen(this.name, (message) => callback(JSON.parse(message) as Message));
  }

  /** Sends a signal and returns at once: no caller waits for Redis. */
  protected sendTo(tenantId: string, message: Message): void {
    if (!this.redis.isReady) return;
    this.redis
      .publish(channelOf(this.name, tenantId), JSON.stringify(message))
      .catch((error: Error) => this.logger.warn({ err: error }, 'failed to signal a worker'));
  }
}
