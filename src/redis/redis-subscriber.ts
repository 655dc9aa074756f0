import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import Redis from 'ioredis';
import { Config } from '../config/config';
import { clearSocketTimeoutOnClose } from './socket-timeout';

/** A subscriber sends nothing, so it would not notice a dead connection without pings. */
const PING_MS = 2_000;
const SOCKET_TIMEOUT_MS = 2_000;

/**
 * Subscribes through any outage of Redis. Messages of that time are lost. After a failover it may stay at the old primary:
 * a replica passes on what its primary publishes.
 */
@Injectable()
export class RedisSubscriber implements OnApplicationShutdown {
  private readonly logger = new Logger(RedisSubscriber.name);
  private readonly connections: Redis[] = [];
  private pinging?: NodeJS.Timeout;

  constructor(private readonly config: Config) {}

  /** Opens a connection for each channel. */
  listen(channel: string, onMessage: (message: string) => void): void {
    const connection = new Redis(this.config.redisUrl, {
      socketTimeout: SOCKET_TIMEOUT_MS,
      retryStrategy: (times) => Math.min(times * 50, 1_000),
    });
    clearSocketTimeoutOnClose(connection);
    connection.on('error', (error: Error) =>
      this.logger.warn({ err: error }, `no messages on ${channel}: Redis is down`),
    );
    connection.on('message', (_: string, message: string) => onMessage(message));
    // ioredis subscribes again after every reconnection.
    connection
      .subscribe(channel)
      .catch((error: Error) => this.logger.warn({ err: error }, 'failed to subscribe'));
    this.connections.push(connection);
    this.pinging ??= setInterval(() => this.ping(), PING_MS);
  }

  onApplicationShutdown(): void {
    clearInterval(this.pinging);
    for (const connection of this.connections) connection.disconnect();
  }

  private ping(): void {
    for (const connection of this.connections.filter(({ status }) => status === 'ready')) {
      connection.ping().catch((error: Error) => this.logger.debug({ err: error }, 'no reply to a ping'));
    }
  }
}
