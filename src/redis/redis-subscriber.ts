import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import Redis, { Cluster } from 'ioredis';
import { channelIn, RedisConnection, RedisConnections } from './redis-connections';

/** Milliseconds between pings, without which a subscriber would not notice a dead connection. */
const PING_MS = 2_000;
const SOCKET_TIMEOUT_MS = 2_000;
const RETRY_MS = 500;
const SUBSCRIBING = {
  // The check's INFO fails if a subscription overtakes it, and ioredis would open another connection.
  enableReadyCheck: false,
  // ioredis forgets channels if the connection is lost while it subscribes to them.
  autoResubscribe: false,
};

type Handler = (message: string) => void;

/**
 * Listens to channels over one connection, or over one to each node of a Cluster, and reconnects after an
 * outage of Redis. Messages that are sent during an outage are lost. After a failover the connection may stay
 * at the old primary, which as a replica passes on the messages of the new primary.
 */
@Injectable()
export class RedisSubscriber implements OnApplicationShutdown {
  private readonly logger = new Logger(RedisSubscriber.name);
  private readonly handlers = new Map<string, Set<Handler>>();
  private opened: RedisConnection | null = null;
  private pinging: NodeJS.Timeout | undefined;
  private isClosed = false;

  constructor(private readonly connections: RedisConnections) {}

  /**
   * Adds a handler to a channel. Resolves once Redis has confirmed the subscription: the handler receives all
   * messages from then on. It neither resolves nor rejects while Redis is down.
   */
  async subscribe(name: string, handler: Handler): Promise<void> {
    const connection = this.connection();
    const channel = channelIn(connection, name);
    this.handlers.set(channel, (this.handlers.get(channel) ?? new Set()).add(handler));
    while (this.handlers.get(channel)?.has(handler) && !this.isClosed) {
      try {
        if (this.connections.isCluster) await connection.ssubscribe(channel);
        else await connection.subscribe(channel);
        return;
      } catch (error) {
        this.logger.debug({ err: error as Error, channel }, 'not subscribed yet; it will be retried');
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Removes one handler of a channel, or all its handlers if none is given. */
  unsubscribe(name: string, handler?: Handler): void {
    const connection = this.connection();
    const channel = channelIn(connection, name);
    const handlers = this.handlers.get(channel);
    if (!handlers) return;
    if (handler) handlers.delete(handler);
    if (handler && handlers.size > 0) return;
    this.handlers.delete(channel);
    const ended = this.connections.isCluster
      ? connection.sunsubscribe(channel)
      : connection.unsubscribe(channel);
    // If this fails, messages still arrive, but are dropped, because no handler is left.
    ended.catch((error: Error) => this.logger.debug({ err: error, channel }, 'not unsubscribed'));
  }

  onApplicationShutdown(): void {
    this.isClosed = true;
    clearInterval(this.pinging);
  }

  private connection(): RedisConnection {
    return (this.opened ??= this.open());
  }

  private open(): RedisConnection {
    const connection = this.connections.connect({
      socketTimeout: SOCKET_TIMEOUT_MS,
      maxRetriesPerRequest: null,
      ...(!this.connections.isCluster && SUBSCRIBING),
    });
    connection.on('error', (error: Error) => this.logger.warn({ err: error }, 'no signals: Redis is down'));
    connection.on(
      connection instanceof Cluster ? 'smessage' : 'message',
      (channel: string, message: string) => this.deliver(channel, message),
    );
    // A Cluster needs no pings: its client replaces connections to nodes that have failed over.
    if (connection instanceof Redis) {
      connection.on('ready', () => this.subscribeAgain(connection));
      this.pinging = setInterval(() => this.ping(connection), PING_MS).unref();
    }
    return connection;
  }

  /** Subscribes to all channels on a new connection. After a failure the next connection does it again. */
  private subscribeAgain(connection: Redis): void {
    if (this.handlers.size === 0) return;
    connection
      .subscribe(...this.handlers.keys())
      .catch((error: Error) => this.logger.debug({ err: error }, 'not subscribed again yet'));
  }

  /** Calls the channel's handlers, and logs their errors, as a faulty message must not end the process. */
  private deliver(channel: string, message: string): void {
    for (const handler of this.handlers.get(channel) ?? []) {
      try {
        handler(message);
      } catch (error) {
        this.logger.warn({ err: error as Error, channel }, 'a signal could not be read; ignored');
      }
    }
  }

  private ping(connection: Redis): void {
    if (connection.status !== 'ready') return;
    connection.ping().catch((error: Error) => this.logger.debug({ err: error }, 'no reply to a ping'));
  }
}
