import { Logger } from '@nestjs/common';
import Redis from 'ioredis';
import { stopSilenceTimerAtClose } from './silence-timer';

/** Who only listens would never learn that a connection is dead. So it is asked, and has to answer. */
const PING_MS = 2_000;
const SILENCE_MS = 2_000;

/** A connection that listens on one channel, through any outage: what is published meanwhile is not heard. */
export class RedisSubscriber {
  private readonly logger = new Logger(RedisSubscriber.name);
  private readonly connection: Redis;
  private readonly pinging: NodeJS.Timeout;

  constructor(redisUrl: string, channel: string, onMessage: (message: string) => void) {
    this.connection = new Redis(redisUrl, {
      socketTimeout: SILENCE_MS,
      retryStrategy: (times) => Math.min(times * 50, 1_000),
    });
    stopSilenceTimerAtClose(this.connection);
    this.connection.on('error', (error: Error) =>
      this.logger.warn({ err: error }, `nothing is heard on ${channel}: Redis is away`),
    );
    this.connection.on('message', (_: string, message: string) => onMessage(message));
    // Subscribed again by ioredis itself after every reconnection.
    this.connection
      .subscribe(channel)
      .catch((error: Error) => this.logger.warn({ err: error }, 'not subscribed'));
    this.pinging = setInterval(() => this.ping(), PING_MS);
  }

  close(): void {
    clearInterval(this.pinging);
    this.connection.disconnect();
  }

  private ping(): void {
    if (this.connection.status !== 'ready') return;
    this.connection.ping().catch((error: Error) => this.logger.debug({ err: error }, 'no answer to a ping'));
  }
}
