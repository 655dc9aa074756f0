import { InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from '../../redis/close-queue';
import { InstagramTokensService } from './instagram-tokens.service';

export const INSTAGRAM_TOKENS_QUEUE = 'instagram-tokens';
const EVERY_DAY = '43 4 * * *';
/** A Redis that was wiped has forgotten the schedule. */
const RESCHEDULE_MS = 60 * 60 * 1000;

/** Has tokens refreshed once a day, on one worker. */
@Injectable()
export class InstagramTokensProcessor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(InstagramTokensProcessor.name);
  private timer?: NodeJS.Timeout;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    @InjectQueue(INSTAGRAM_TOKENS_QUEUE) private readonly queue: Queue,
    private readonly tokens: InstagramTokensService,
  ) {}

  onApplicationBootstrap(): void {
    this.queue.on('error', (error: Error) => this.logger.warn({ err: error }, 'the queue has no Redis'));
    this.queue.on('failed', (_: unknown, error: Error) =>
      this.logger.error({ err: error }, 'tokens were not refreshed; the next day goes on'),
    );
    this.queue
      .process(() => (this.running = this.tokens.refreshDue()))
      .catch((error: Error) => this.logger.error({ err: error }, 'the queue has stopped'));
    this.schedule();
    this.timer = setInterval(() => this.schedule(), RESCHEDULE_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.tokens.stop();
    await closeQueue(this.queue, [this.running]);
  }

  /** Not waited for: without Redis it is scheduled once Redis is back. The same schedule twice is one. */
  private schedule(): void {
    this.queue
      .add({}, { repeat: { cron: EVERY_DAY }, removeOnComplete: true, removeOnFail: true })
      .catch((error: Error) =>
        this.logger.error({ err: error }, 'the refreshing of tokens is not scheduled'),
      );
  }
}
