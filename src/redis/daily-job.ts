import { Logger } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from './close-queue';

/** A Redis that was wiped has forgotten the schedule. */
const RESCHEDULE_MS = 60 * 60 * 1000;

/** Work that is done once a day, on one worker. */
export class DailyJob {
  private timer?: NodeJS.Timeout;
  private running: Promise<unknown> = Promise.resolve();

  /**
   * @param cron when, by the workers' own time zone
   * @param work that has not ended by the time of `stop` is waited for; what it throws is logged
   */
  constructor(
    private readonly queue: Queue,
    private readonly cron: string,
    private readonly work: () => Promise<unknown>,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.queue.on('error', (error: Error) => this.logger.warn({ err: error }, 'the queue has no Redis'));
    this.queue.on('failed', (_: unknown, error: Error) =>
      this.logger.error({ err: error }, 'the daily work was not finished; the next day goes on'),
    );
    this.queue
      .process(() => (this.running = this.work()))
      .catch((error: Error) => this.logger.error({ err: error }, 'the queue has stopped'));
    this.schedule();
    this.timer = setInterval(() => this.schedule(), RESCHEDULE_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await closeQueue(this.queue, [this.running]);
  }

  /** Not waited for: without Redis it is scheduled once Redis is back. The same schedule twice is one. */
  private schedule(): void {
    this.queue
      .add({}, { repeat: { cron: this.cron }, removeOnComplete: true, removeOnFail: true })
      .catch((error: Error) => this.logger.error({ err: error }, 'the daily work is not scheduled'));
  }
}
