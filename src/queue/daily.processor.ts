import { OnQueueError, OnQueueFailed } from '@nestjs/bull';
import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { closeQueue } from './close-queue';
import { holdProcessing } from './hold-processing';

/** Milliseconds after which the schedule is written to Redis once more, in case Redis has lost its data. */
const RESCHEDULE_MS = 60 * 60 * 1000;

/** Runs a Bull job once a day, at the time `cron` in the worker's time zone, on one of the workers. */
export abstract class DailyProcessor
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger = new Logger(this.constructor.name);
  private readonly stop = new AbortController();
  private readonly startProcessing: () => void;
  private timer?: NodeJS.Timeout;
  private running: Promise<unknown> = Promise.resolve();
  private stopped: Promise<void> | null = null;

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

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.stop.abort();
    this.stopped ??= closeQueue(this.queue, [this.running]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  /** Runs the day's work. A shutdown of the process aborts `stop` and waits until the work has ended. */
  protected runDaily(work: (stop: AbortSignal) => Promise<unknown>): Promise<unknown> {
    return (this.running = work(this.stop.signal));
  }

  /** Adds the repeated job. Does not wait, because while Redis is down the client sends the command later. */
  private schedule(): void {
    this.queue
      .add({}, { repeat: { cron: this.cron }, removeOnComplete: true, removeOnFail: true })
      .catch((error: Error) => this.logger.error({ err: error }, 'the daily work is not scheduled'));
  }
}
