import { Injectable, Logger } from '@nestjs/common';
import { RedisClient } from './redis-client';
import { RedisSubscriber } from './redis-subscriber';
import { channelOf, WorkerShards } from './worker-shards';

/** Kind of signal, by its name in Redis, and the type of its messages. */
export interface Signal<Message> {
  readonly name: string;
  /** Never set. It binds the type of the messages to the name. */
  readonly message?: Message;
}

/**
 * Tells a worker, and whoever else listens, something about a workspace over Redis. A lost signal only delays
 * work until the next poll.
 */
@Injectable()
export class RedisSignals {
  private readonly logger = new Logger(RedisSignals.name);
  /** Channels that had no listener, with the times until which `sendIfHeard` skips them. */
  private readonly unheardUntil = new Map<string, number>();

  constructor(
    private readonly redis: RedisClient,
    private readonly shards: WorkerShards,
    private readonly subscriber: RedisSubscriber,
  ) {}

  /** Listens to the signals of all processes about the workspaces of this worker's shards. */
  listen<Message>({ name }: Signal<Message>, callback: (message: Message) => void): void {
    this.shards.listen(name, (message) => callback(JSON.parse(message) as Message));
  }

  /**
   * Listens to the signals of all processes about the workspaces that share a channel with this one.
   * @returns a function that stops listening, and a promise that settles once no further signal is missed
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

  /** Reports whether a signal would not be sent, because its channel had no listener lately. */
  isUnheard<Message>({ name }: Signal<Message>, tenantId: string): boolean {
    const until = this.unheardUntil.get(channelOf(name, tenantId));
    return until !== undefined && performance.now() < until;
  }

  /**
   * Sends a signal as `send` does, unless its channel had no listener in the last `pauseMs` milliseconds. A
   * listener that begins misses signals for that long.
   */
  sendIfHeard<Message>(signal: Signal<Message>, tenantId: string, message: Message, pauseMs: number): void {
    if (!this.redis.isReady || this.isUnheard(signal, tenantId)) return;
    const channel = channelOf(signal.name, tenantId);
    this.redis.publish(channel, JSON.stringify(message)).then(
      (count) => {
        // There are as many channels as shards.
        if (count === 0) this.unheardUntil.set(channel, performance.now() + pauseMs);
        else this.unheardUntil.delete(channel);
      },
      (error: Error) => this.logger.warn({ err: error }, 'failed to signal an inbox'),
    );
  }

  /** Sends a signal and returns at once: no caller waits for Redis. */
  send<Message>({ name }: Signal<Message>, tenantId: string, message: Message): void {
    if (!this.redis.isReady) return;
    this.redis
      .publish(channelOf(name, tenantId), JSON.stringify(message))
      .catch((error: Error) => this.logger.warn({ err: error }, 'failed to signal a worker'));
  }
}
