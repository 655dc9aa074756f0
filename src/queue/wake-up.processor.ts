import { OnQueueCompleted, OnQueueError, OnQueueFailed } from '@nestjs/bull';
import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { closeQueue } from './close-queue';
import { holdProcessing } from './hold-processing';
import { LeaseWorker } from './lease-worker';
import { Target } from './target';
import { WakeUpQueue } from './wake-up-queue';

/**
 * Claims for the targets that are woken, by this process or by a job. The database holds what is due and its lease, so
 * any number of jobs, workers and repetitions is harmless.
 */
export abstract class WakeUpProcessor
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger = new Logger(this.constructor.name);
  private readonly startProcessing: () => void;
  private stopping: Promise<void> | null = null;

  protected constructor(
    private readonly bull: Queue<Target>,
    private readonly queue: WakeUpQueue,
    protected readonly worker: LeaseWorker<unknown>,
  ) {
    this.startProcessing = holdProcessing(bull, this.logger);
  }

  /** Whether a target has anything that can be claimed now. */
  protected abstract hasDue(target: Target): Promise<boolean>;

  onApplicationBootstrap(): void {
    this.queue.handleLocally((targets) => this.worker.wake(targets));
    this.startProcessing();
  }

  @OnQueueError()
  onError(error: Error): void {
    this.logger.warn({ err: error }, 'the queue has no connection to Redis');
  }

  @OnQueueFailed()
  onFailed({ data }: Job<Target>, error: Error): void {
    this.logger.error({ err: error, ...data }, 'claiming failed; it will be retried');
  }

  /** While the job was active, Bull ignored new jobs for this target. So look once more. */
  @OnQueueCompleted()
  async onCompleted({ data: target }: Job<Target>): Promise<void> {
    // If no slot is free, the next one that is released claims for this target.
    if (this.stopping || !this.worker.canClaim(target)) return;
    try {
      if (await this.hasDue(target)) this.queue.wake([target]);
    } catch (error) {
      this.logger.warn({ err: error as Error, ...target }, 'not checked whether more is due; the poll will');
    }
  }

  /** Not awaited: all processors stop at the same time. */
  onModuleDestroy(): void {
    this.queue.stopHandlingLocally();
    this.stopping ??= closeQueue(this.bull, [this.worker.drain()]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopping;
  }
}
