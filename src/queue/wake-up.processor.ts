import { OnQueueCompleted, OnQueueError, OnQueueFailed, Process } from '@nestjs/bull';
import { BeforeApplicationShutdown, Logger, OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { closeQueue } from './close-queue';
import { holdProcessing } from './hold-processing';
import { CONCURRENT_CLAIMS, LeaseWorker } from './lease-worker';
import { Target } from './targets';
import { WakeUpQueue } from './wake-up-queue';

/**
 * Claims the due items of the targets for which this process or a job wakes the worker. Lost, repeated or
 * concurrent jobs do no harm, because PostgreSQL stores the due items and their leases.
 */
export abstract class WakeUpProcessor
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly logger = new Logger(this.constructor.name);
  private readonly startProcessing: () => void;
  private stopping: Promise<void> | null = null;

  protected constructor(
    private readonly bull: Queue<Target>,
    private readonly wakeUps: WakeUpQueue,
    private readonly worker: LeaseWorker<unknown>,
  ) {
    this.startProcessing = holdProcessing(bull, this.logger);
  }

  onApplicationBootstrap(): void {
    this.wakeUps.handleLocally((targets) => this.worker.wake(targets));
    this.startProcessing();
  }

  /** Claims and starts all due items of a target that have a slot. Resolves when done, or after a second. */
  @Process({ concurrency: CONCURRENT_CLAIMS })
  claimDue({ data }: Job<Target>): Promise<void> {
    return this.worker.claimAndStart(data);
  }

  @OnQueueError()
  onError(error: Error): void {
    this.logger.warn({ err: error }, 'the queue has no connection to Redis');
  }

  @OnQueueFailed()
  onFailed({ data }: Job<Target>, error: Error): void {
    this.logger.error({ err: error, ...data }, 'claiming failed; it will be retried');
  }

  /** Checks for due items once more, because Bull ignored new jobs for the target during its job. */
  @OnQueueCompleted()
  async onCompleted({ data: target }: Job<Target>): Promise<void> {
    // If no slot is free, the release of the next slot wakes this target.
    if (this.stopping || !this.worker.canClaim(target)) return;
    try {
      if (await this.worker.hasDue(target)) this.wakeUps.wake([target]);
    } catch (error) {
      this.logger.warn({ err: error as Error, ...target }, 'not checked whether more is due; the poll will');
    }
  }

  /** Begins to close the queue and does not wait, so that all processors close at the same time. */
  onModuleDestroy(): void {
    this.wakeUps.stopHandlingLocally();
    this.stopping ??= closeQueue(this.bull, [this.worker.drain()]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopping;
  }
}
