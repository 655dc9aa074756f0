import { Global, Injectable, Logger, Module, OnApplicationShutdown } from '@nestjs/common';
import Redis from 'ioredis';
import { Config } from '../config/config';
import { RedisSubscriber } from './redis-subscriber';
import { clearSocketTimeoutOnClose } from './socket-timeout';

const ANSWER_WITHIN_MS = 100;
/** A connection on which nothing comes back for so long is dead, even if nobody said so: another one is opened. */
const SILENCE_MS = 2_000;
const MAX_RECONNECT_DELAY_MS = 1_000;

/**
 * The connection for short commands that a request may wait for: they fail at once while Redis is away, and, waited
 * for with `inTime`, within 100 ms when it hangs. Queues and subscriptions have connections of their own.
 */
@Injectable()
export class RedisClient extends Redis implements OnApplicationShutdown {
  constructor(config: Config) {
    super(config.redisUrl, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      socketTimeout: SILENCE_MS,
      retryStrategy: (times) => Math.min(times * 50, MAX_RECONNECT_DELAY_MS),
    });
    clearSocketTimeoutOnClose(this);
    const logger = new Logger(RedisClient.name);
    this.on('error', (error: Error) => logger.warn({ err: error }, 'Redis is away'));
  }

  /** What is asked in one turn of the event loop, by however many requests, goes out in one packet. */
  override sendCommand(...command: Parameters<Redis['sendCommand']>): unknown {
    this.gather();
    return super.sendCommand(...command);
  }

  get isReady(): boolean {
    return this.status === 'ready';
  }

  /**
   * What a command answers, if it does so within 100 ms. The time is taken in two halves: when this process itself has
   * been held up, the answer that came meanwhile is read before the second half is over.
   */
  async inTime<T>(command: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      const fail = () => reject(new Error(`Redis did not answer within ${ANSWER_WITHIN_MS} ms`));
      timer = setTimeout(() => {
        timer = setTimeout(fail, ANSWER_WITHIN_MS / 2);
      }, ANSWER_WITHIN_MS / 2);
    });
    try {
      return await Promise.race([command, tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  onApplicationShutdown(): void {
    this.disconnect();
  }

  private gather(): void {
    const { stream } = this;
    if (!stream || stream.writableCorked > 0) return;
    stream.cork();
    setImmediate(() => stream.uncork());
  }
}

@Global()
@Module({ providers: [RedisClient, RedisSubscriber], exports: [RedisClient, RedisSubscriber] })
export class RedisModule {}
