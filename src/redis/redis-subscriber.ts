import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import Redis from 'ioredis';
import { Config } from '../config/config';
import { clearSocketTimeoutOnClose } from './socket-timeout';

/** Who only listens would never learn that a connection is dead. So it is asked, and has to answer. */
const PING_MS = 2_000;
const SILENCE_MS = 2_000;

/** Listens through any outage: what is published meanwhile is not heard. */
@Injectable()
export class RedisSubscriber implements OnApplicationShutdown {
  private readonly logger = new Logger(RedisSubscriber.name);
  private readonly connections: Redis[] = [];
  private pinging?: NodeJS.Timeout;

  constructor(private readonly config: Config) {}

  /** Hears what any process publishes on a channel, over a connection of its own. */
  listen(channel: string, onMessage: (message: string) => void): void {
    const connection = new Redis(this.config.redisUrl, {
      socketTimeout: SILENCE_MS,
      retryStrategy: (times) => Math.min(times * 50, 1_000),
    });
    clearSocketTimeoutOnClose(connection);
    connection.on('error', (error: Error) =>
      this.logger.warn({ err: error }, `nothing is heard on ${channel}: Redis is away`),
    );
    connection.on('message', (_: string, message: string) => onMessage(message));
    // Subscribed again by ioredis itself after every reconnection.
    connection.subscribe(channel).catch((error: Error) => this.logger.warn({ err: error }, 'not subscribed'));
    this.connections.push(connection);
    this.pinging ??= setInterval(() => this.ping(), PING_MS);
  }

  onApplicationShutdown(): void {
    clearInterval(this.pinging);
    for (const connection of this.connections) connection.disconnect();
  }

  private ping(): void {
    for (const connection of this.connections.filter(({ status }) => status === 'ready')) {
      connection.ping().catch((error: Error) => this.logger.debug({ err: error }, 'no answer to a ping'));
    }
  }
}
