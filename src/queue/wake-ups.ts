import { InjectQueue, OnQueueError, Process, Processor } from '@nestjs/bull';
import {
  BeforeApplicationShutdown,
  Logger,
  Module,
  OnApplicationBootstrap,
  OnModuleDestroy,
} from '@nestjs/common';
import type { Job, Queue } from 'bull';
import { RedisSignals } from '../redis/redis-signals';
import { closeQueue } from './close-queue';
import { holdProcessing } from './hold-processing';
import { LeaseWorker } from './lease-worker';
import { registerQueue } from './register-queue';
import { Target, TARGET_DUE, targetKeyOf, WakeUp } from './targets';

export const WAKE_UP_QUEUE = 'wake-ups';
/** Delayed wake-ups are rounded up to a multiple of this many milliseconds, so that several become one. */
const DELAY_STEP_MS = 20;
/** Largest number of delayed wake-ups. The polls find the due items of further targets. */
const MAX_DELAYED = 10_000;

/**
 * Wakes workers for targets: a worker then claims the due items of the target. A target is woken in this
 * process wherever possible. A signal reaches the worker of the target's workspace from any process, and a
 * Bull job reaches any other worker. A wake-up may be lost, and no caller waits for Redis, because the polls
 * find all due items within about a second.
 */
@Processor(WAKE_UP_QUEUE)
export class WakeUps implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(WakeUps.name);
  private readonly workers = new Map<string, LeaseWorker<unknown>>();
  /** Delayed wake-ups that have not come yet: queue, target and time. */
  private readonly delayed = new Set<string>();
  private readonly startProcessing: () => void;
  private stopped: Promise<void> | null = null;

  constructor(
    @InjectQueue(WAKE_UP_QUEUE) private readonly bull: Queue<WakeUp>,
    private readonly signals: RedisSignals,
  ) {
    this.startProcessing = holdProcessing(bull, this.logger);
  }

  /** Registers the worker that claims the items of a queue in this process. */
  register(queue: string, worker: LeaseWorker<unknown>): void {
    this.workers.set(queue, worker);
  }

  /** Wakes the worker of this process. */
  wake(queue: string, targets: Target[]): void {
    this.workers.get(queue)?.wake(targets);
  }

  /** Wakes the worker of this process after a delay, if the process still runs. */
  wakeIn(queue: string, target: Target, delayMs: number): void {
    if (delayMs === 0) return this.wake(queue, [target]);
    const step = Math.ceil((Date.now() + delayMs) / DELAY_STEP_MS);
    const key = `${queue} ${targetKeyOf(target)} ${step}`;
    if (this.delayed.has(key) || this.delayed.size >= MAX_DELAYED) return;
    this.delayed.add(key);
    const wakeNow = () => {
      this.delayed.delete(key);
      this.wake(queue, [target]);
    };
    // A timer may fire a millisecond early, while the target's pause has not ended.
    setTimeout(wakeNow, step * DELAY_STEP_MS - Date.now() + 1).unref();
  }

  /** Adds a job for a target, which any worker may take. Bull ignores a second job of a target. */
  wakeOthers(queue: string, target: Target): void {
    // While Redis is down, no job is added, because its client would store all jobs in memory.
    if (this.bull.client.status !== 'ready') return;
    const jobId = `${queue}:${targetKeyOf(target)}`;
    this.bull
      .add({ queue, target }, { jobId, removeOnComplete: true, removeOnFail: true })
      .catch((error: Error) => this.logger.warn({ err: error }, 'no other worker was woken; the polls will'));
  }

  onApplicationBootstrap(): void {
    this.signals.listen(TARGET_DUE, ({ queue, target }) => this.wake(queue, [target]));
    this.startProcessing();
  }

  @Process()
  takeJob({ data: { queue, target } }: Job<WakeUp>): void {
    this.wake(queue, [target]);
  }

  /** Logs errors of the queue, because an `error` event without a listener ends the process. */
  @OnQueueError()
  onError(error: Error): void {
    this.logger.warn({ err: error }, 'the queue has no connection to Redis');
  }

  /** Stops the workers. Does not wait, so that all queues close at the same time. */
  onModuleDestroy(): void {
    const drained = [...this.workers.values()].map((worker) => worker.drain());
    this.stopped ??= closeQueue(this.bull, drained);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }
}

@Module({ imports: [registerQueue(WAKE_UP_QUEUE)], providers: [WakeUps], exports: [WakeUps] })
export class WakeUpsModule {}
