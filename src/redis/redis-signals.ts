import { Injectable, Logger } from '@nestjs/common';
import { RedisClient } from './redis-client';
import { RedisSubscriber } from './redis-subscriber';
import { channelOf, WorkerShards } from './worker-shards';

export interface Signal<Message> {
  readonly name: string;
  /** Never set. It exists only so that the type of the messages belongs to the signal's name. */
  readonly message?: Message;
}

/**
 * Sends signals about workspaces over Redis to the workers and to other listeners. A lost signal only delays
 * work until the next poll.
 */
@Injectable()
export class RedisSignals {
  private readonly logger = new Logger(RedisSignals.name);
  /**
   * Channels without a listener, and the `performance.now()` until which `sendIfHeard` skips each of them.
   */
  private readonly unheardUntil = new Map<string, number>();

  constructor(
    private readonly redis: RedisClient,
    private readonly shards: WorkerShards,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** Calls `callback` for each signal, from any process, about a workspace that belongs to this worker. */
  listen<Message>({ name }: Signal<Message>, callback: (message: Message) => void): void {
    this.shards.listen(name, (message) => callback(JSON.parse(message) as Message));
  }

  /**
   * Calls `callback` for each signal, from any process, about this workspace, and about other workspaces that
   * use the same channel.
   * @returns a function that stops listening, and a promise that resolves once all further signals arrive
   */
  listenBeside<Message>(
    { name }: Signal<Message>,
    tenantId: string,
    callback: (message: Message) => void,
  ): { stop: () => void; listening: Promise<void> } {
    const channel = channelOf(name, tenantId);
    const handler = (message: string) => callback(JSON.parse(message) as Message);
    const listening = this.subscriber.subscribe(channel, handler);
    return { stop: () => this.subscriber.unsubscribe(channel, handler), listening };
  }

  /** Reports whether `sendIfHeard` skips a signal now, because its channel had no listener a moment ago. */
  isUnheard<Message>({ name }: Signal<Message>, tenantId: string): boolean {
    const until = this.unheardUntil.get(channelOf(name, tenantId));
    return until !== undefined && performance.now() < until;
  }

  /**
   * Sends a signal as `send` does. If its channel has no listener, the following signals are skipped for
   * `pauseMs` milliseconds: a listener that begins in that time misses them.
   */
  sendIfHeard<Message>(signal: Signal<Message>, tenantId: string, message: Message, pauseMs: number): void {
    if (!this.redis.isReady || this.isUnheard(signal, tenantId)) return;
    const channel = channelOf(signal.name, tenantId);
    this.redis.publish(channel, JSON.stringify(message)).then(
      (count) => {
        // The map needs no clean-up, because a signal has only as many channels as there are shards.
        if (count === 0) this.unheardUntil.set(channel, performance.now() + pauseMs);
        else this.unheardUntil.delete(channel);
      },
      (error: Error) => this.logger.warn({ err: error }, 'failed to signal an inbox'),
    );
  }

  /** Sends a signal and returns at once, so that no caller waits for Redis. */
  send<Message>({ name }: Signal<Message>, tenantId: string, message: Message): void {
    if (!this.redis.isReady) return;
    this.redis
      .publish(channelOf(name, tenantId), JSON.stringify(message))
      .catch((error: Error) => this.logger.warn({ err: error }, 'failed to signal a worker'));
  }
}
