import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import Redis from 'ioredis';
import { Config } from '../config/config';
import { RedisClient } from '../redis/redis.module';
import { stopSilenceTimerAtClose } from '../redis/silence-timer';

const CHANNEL = 'outbox:appended';
/** Who only listens would never learn that a connection is dead. So it is asked, and has to answer. */
const PING_MS = 2_000;
const SILENCE_MS = 2_000;

/** Tells the relays, over Redis, that something was appended. A lost signal costs time, never an event. */
@Injectable()
export class OutboxSignal implements OnApplicationShutdown {
  private readonly logger = new Logger(OutboxSignal.name);
  private subscriber: Redis | null = null;
  private pinging?: NodeJS.Timeout;

  constructor(
    private readonly config: Config,
    private readonly redis: RedisClient,
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
    this.subscriber = new Redis(this.config.redisUrl, {
      socketTimeout: SILENCE_MS,
      retryStrategy: (times) => Math.min(times * 50, 1_000),
    });
    stopSilenceTimerAtClose(this.subscriber);
    this.subscriber.on('error', (error: Error) =>
      this.logger.warn({ err: error }, 'no wake-ups: Redis is away'),
    );
    this.subscriber.on('message', callback);
    // Subscribed again by ioredis itself after every reconnection.
    this.subscriber
      .subscribe(CHANNEL)
      .catch((error: Error) => this.logger.warn({ err: error }, 'not subscribed'));
    this.pinging = setInterval(() => this.ping(), PING_MS);
  }

  onApplicationShutdown(): void {
    clearInterval(this.pinging);
    this.subscriber?.disconnect();
  }

  private ping(): void {
    if (this.subscriber?.status !== 'ready') return;
    this.subscriber.ping().catch((error: Error) => this.logger.debug({ err: error }, 'no answer to a ping'));
  }
}
