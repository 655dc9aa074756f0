import { OnQueueError, OnQueueFailed } from '@nestjs/bull';
import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { closeQueue } from './close-queue';
import { holdProcessing } from './hold-processing';

/** Interval at which the schedule is written again, because Redis may have been wiped. */
const RESCHEDULE_MS = 60 * 60 * 1000;

/** Runs its work once a day, on one worker. */
export abstract class DailyProcessor
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger = new Logger(this.constructor.name);
  private readonly stop = new AbortController();
  private readonly startProcessing: () => void;
  private timer?: NodeJS.Timeout;
  private running: Promise<unknown> = Promise.resolve();
  private stopped: Promise<void> | null = null;

  /**
   * Makes a processor that runs at one time of each day.
   * @param cron that time as a cron expression, in the worker's time zone
   */
  protected constructor(
    private readonly queue: Queue,
    private readonly cron: string,
  ) {
    this.startProcessing = holdProcessing(queue, this.logger);
  }

  onApplicationBootstrap(): void {
    this.startProcessing();
    this.schedule();
    this.timer = setInterval(() => this.schedule(), RESCHEDULE_MS);
  }

  @OnQueueError()
  onError(error: Error): void {
    this.logger.warn({ err: error }, 'the queue has no connection to Redis');
  }

  @OnQueueFailed()
  onFailed(_: Job, error: Error): void {
    this.logger.error({ err: error }, 'the daily work failed; it continues the next day');
  }

  /** Begins to close the queue without waiting for its end, so that all processors stop at the same time. */
  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.stop.abort();
    this.stopped ??= closeQueue(this.queue, [this.running]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  /** Runs the day's work. A shutdown aborts the signal and waits for the work. */
  protected runDaily(work: (stop: AbortSignal) => Promise<unknown>): Promise<unknown> {
    return (this.running = work(this.stop.signal));
  }

  /**
   * Schedules the work without waiting: while Redis is down, the client keeps the command. Bull ignores a
   * schedule that exists already.
   */
  private schedule(): void {
    this.queue
      .add({}, { repeat: { cron: this.cron }, removeOnComplete: true, removeOnFail: true })
      .catch((error: Error) => this.logger.error({ err: error }, 'the daily work is not scheduled'));
  }
}
