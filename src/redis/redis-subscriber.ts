import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import Redis, { Cluster } from 'ioredis';
import { channelIn, RedisConnection, RedisConnections } from './redis-connections';

/** Pause between two pings. A subscriber sends nothing else, so it would not notice a dead connection. */
const PING_MS = 2_000;
const SOCKET_TIMEOUT_MS = 2_000;
/** Pause after a node of a Cluster could not be reached. */
const RETRY_MS = 500;

type Handler = (message: string) => void;

/**
 * Listens to channels through any outage of Redis, over one connection, or over one to each node of a
 * Cluster. Messages that are sent during an outage are lost. After a failover the connection may stay at the
 * old primary: as a replica it passes on the messages of its primary.
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
   * Listens to a channel, beside its other handlers. Settles once Redis has confirmed, after which no message
   * is missed; it does not settle while Redis is down.
   */
  async subscribe(name: string, handler: Handler): Promise<void> {
    const connection = this.connection();
    const channel = channelIn(connection, name);
    this.handlers.set(channel, (this.handlers.get(channel) ?? new Set()).add(handler));
    while (this.handlers.get(channel)?.has(handler) && !this.isClosed) {
      try {
        // ioredis subscribes again after every reconnection.
        if (this.connections.isCluster) await connection.ssubscribe(channel);
        else await connection.subscribe(channel);
        return;
      } catch (error) {
        this.logger.debug({ err: error as Error, channel }, 'not subscribed yet; it will be retried');
        await sleep(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** Stops one handler of a channel, or all of them. */
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
    // Messages without a handler are dropped, so a failure costs nothing else.
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
    });
    connection.on('error', (error: Error) => this.logger.warn({ err: error }, 'no signals: Redis is down'));
    connection.on(
      connection instanceof Cluster ? 'smessage' : 'message',
      (channel: string, message: string) => this.deliver(channel, message),
    );
    // A Cluster's connections follow its nodes: one that has failed over is replaced.
    if (connection instanceof Redis) this.pinging = setInterval(() => this.ping(connection), PING_MS).unref();
    return connection;
  }

  /**
   * Hands a message to its handlers. An error is logged, because a malformed message must not end this
   * process.
   */
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
