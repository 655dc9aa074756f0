import { Global, Injectable, Logger, Module, OnApplicationShutdown } from '@nestjs/common';
import Redis from 'ioredis';
import { Config } from '../config/config';

const COMMAND_TIMEOUT_MS = 100;
const MAX_RECONNECT_DELAY_MS = 1_000;

/**
 * The connection for short commands that a request may wait for: each fails within 100 ms, and at once while Redis
 * is away. Queues and subscriptions have connections of their own.
 */
@Injectable()
export class RedisClient extends Redis implements OnApplicationShutdown {
  constructor(config: Config) {
    super(config.redisUrl, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
      retryStrategy: (times) => Math.min(times * 50, MAX_RECONNECT_DELAY_MS),
    });
    const logger = new Logger(RedisClient.name);
    this.on('error', (error: Error) => logger.warn({ err: error }, 'Redis is away'));
  }

  get isReady(): boolean {
    return this.status === 'ready';
  }

  onApplicationShutdown(): void {
    this.disconnect();
  }
}

@Global()
@Module({ providers: [RedisClient], exports: [RedisClient] })
export class RedisModule {}
