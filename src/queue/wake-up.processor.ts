import { OnQueueCompleted, OnQueueError, OnQueueFailed } from '@nestjs/bull';
import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { closeQueue } from './close-queue';
import { holdProcessing } from './hold-processing';
import { LeaseWorker } from './lease-worker';
import { WakeUp, WakeUpQueue } from './wake-up.queue';

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
    private readonly bull: Queue<WakeUp>,
    private readonly queue: WakeUpQueue,
    protected readonly worker: LeaseWorker<unknown>,
  ) {
    this.startProcessing = holdProcessing(bull, this.logger);
  }

  /** Whether a target has anything that can be claimed now. */
  protected abstract hasDue(id: string): Promise<boolean>;

  onApplicationBootstrap(): void {
    this.queue.handleLocally((ids) => this.worker.wake(ids));
    this.startProcessing();
  }

  @OnQueueError()
  onError(error: Error): void {
    this.logger.warn({ err: error }, 'the queue has no connection to Redis');
  }

  @OnQueueFailed()
  onFailed({ data }: Job<WakeUp>, error: Error): void {
    this.logger.error({ err: error, ...data }, 'claiming failed; the sweeper will retry');
  }

  /** While the job was active, Bull ignored new jobs for this target. So look once more. */
  @OnQueueCompleted()
  async onCompleted({ data: { id } }: Job<WakeUp>): Promise<void> {
    // If no slot is free, the next one that is released claims for this target.
    if (this.stopping || !this.worker.canClaim(id)) return;
    try {
      if (await this.hasDue(id)) this.queue.wake([id]);
    } catch (error) {
      this.logger.warn({ err: error as Error, id }, 'not checked whether more is due; the sweeper will');
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
