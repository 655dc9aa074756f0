import { InjectQueue } from '@nestjs/bull';
import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from '../redis/close-queue';
import { RetentionService } from './retention.service';

export const RETENTION_QUEUE = 'retention';
const EVERY_NIGHT = '17 3 * * *';
/** A Redis that was wiped has forgotten the schedule. */
const RESCHEDULE_MS = 60 * 60 * 1000;

/** Cleans up once a night, on one worker. */
@Injectable()
export class RetentionProcessor implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(RetentionProcessor.name);
  private timer?: NodeJS.Timeout;
  private running: Promise<unknown> = Promise.resolve();

  constructor(
    @InjectQueue(RETENTION_QUEUE) private readonly queue: Queue,
    private readonly retention: RetentionService,
  ) {}

  onApplicationBootstrap(): void {
    this.queue.on('error', (error: Error) => this.logger.warn({ err: error }, 'the queue has no Redis'));
    this.queue.on('failed', (_: unknown, error: Error) =>
      this.logger.error({ err: error }, 'the nightly clean-up was not finished; the next night goes on'),
    );
    this.queue
      .process(() => (this.running = this.retention.clean()))
      .catch((error: Error) => this.logger.error({ err: error }, 'the queue has stopped'));
    this.schedule();
    this.timer = setInterval(() => this.schedule(), RESCHEDULE_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.retention.stop();
    await closeQueue(this.queue, [this.running]);
  }

  /** Not waited for: without Redis it is scheduled once Redis is back. The same schedule twice is one. */
  private schedule(): void {
    this.queue
      .add({}, { repeat: { cron: EVERY_NIGHT }, removeOnComplete: true, removeOnFail: true })
      .catch((error: Error) => this.logger.error({ err: error }, 'the nightly clean-up is not scheduled'));
  }
}
