import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from './close-queue';

/** A Redis that was wiped has forgotten the schedule. */
const RESCHEDULE_MS = 60 * 60 * 1000;

/** Does its work once a day, on one worker. */
export abstract class DailyProcessor
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger = new Logger(this.constructor.name);
  private readonly stop = new AbortController();
  private timer?: NodeJS.Timeout;
  private running: Promise<unknown> = Promise.resolve();
  private stopped: Promise<void> | null = null;

  /**
   * @param cron when, by the workers' own time zone
   * @param work is waited for at shutdown, and told by its signal to come to an end; what it throws is logged
   */
  protected constructor(
    private readonly queue: Queue,
    private readonly cron: string,
    private readonly work: (stop: AbortSignal) => Promise<unknown>,
  ) {}

  onApplicationBootstrap(): void {
    this.queue.on('error', (error: Error) => this.logger.warn({ err: error }, 'the queue has no Redis'));
    this.queue.on('failed', (_: unknown, error: Error) =>
      this.logger.error({ err: error }, 'the daily work was not finished; the next day goes on'),
    );
    this.queue
      .process(() => (this.running = this.work(this.stop.signal)))
      .catch((error: Error) => this.logger.error({ err: error }, 'the queue has stopped'));
    this.schedule();
    this.timer = setInterval(() => this.schedule(), RESCHEDULE_MS);
  }

  /** Begins to stop, and is not waited for: all processors have the same time, at the same time. */
  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.stop.abort();
    this.stopped ??= closeQueue(this.queue, [this.running]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  /** Not waited for: without Redis it is scheduled once Redis is back. The same schedule twice is one. */
  private schedule(): void {
    this.queue
      .add({}, { repeat: { cron: this.cron }, removeOnComplete: true, removeOnFail: true })
      .catch((error: Error) => this.logger.error({ err: error }, 'the daily work is not scheduled'));
  }
}
