import { getQueueToken } from '@nestjs/bull';
import { BeforeApplicationShutdown, FactoryProvider, Inject, Logger, OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from './close-queue';
import { targetKeyOf, Target } from './targets';

/** Unit of the delay of a wake-up. Wake-ups of one target within one unit are one job. */
const DELAY_STEP_MS = 100;

export const InjectWakeUps = (queue: string) => Inject(wakeUpsOf(queue));

export function wakeUpsOf(queue: string): string {
  return `wake-ups:${queue}`;
}

/** Provides the wake-ups of a queue that the module registers. */
export function provideWakeUps(queue: string): FactoryProvider<WakeUpQueue> {
  return {
    provide: wakeUpsOf(queue),
    inject: [getQueueToken(queue)],
    useFactory: (bull: Queue<Target>) => new WakeUpQueue(bull),
  };
}

type WakeHandler = (targets: Iterable<Target>) => void;

/**
 * Wakes a worker to check whether a target has something due. A lost wake-up costs the time until the next
 * poll, so no caller waits for Redis.
 */
export class WakeUpQueue implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger: Logger;
  /** Wake-ups that are not in Redis yet, by the job's id. */
  private readonly pending = new Map<string, { target: Target; delay: number }>();
  private isAdding = false;
  private localHandler: WakeHandler | null = null;

  constructor(private readonly bull: Queue<Target>) {
    this.logger = new Logger(`${WakeUpQueue.name} ${bull.name}`);
  }

  /** Listens for errors of the queue: without a listener, one would end the process. */
  onModuleInit(): void {
    this.bull.on('error', (error: Error) =>
      this.logger.warn({ err: error }, 'the queue has no connection to Redis'),
    );
  }

  /**
   * Closes the queue in processes without a processor: when Redis is down, @nestjs/bull would wait for ever.
   */
  async beforeApplicationShutdown(): Promise<void> {
    await closeQueue(this.bull, []);
  }

  /** Makes `wake` call a handler in this process: a job would only cost time. */
  handleLocally(handler: WakeHandler): void {
    this.localHandler = handler;
  }

  stopHandlingLocally(): void {
    this.localHandler = null;
  }

  /** Wakes targets by the handler in this process if there is one, or else by jobs. */
  wake(targets: Iterable<Target>): void {
    if (this.localHandler) this.localHandler(targets);
    else this.enqueue(targets);
  }

  /** Wakes targets by jobs, in any worker. While a target's job waits, Bull ignores a second one. */
  enqueue(targets: Iterable<Target>): void {
    for (const target of targets) this.pending.set(targetKeyOf(target), { target, delay: 0 });
    void this.addPending();
  }

  /**
   * Wakes a target after a delay, by a job with an id of its own: Bull would ignore a second job of the same
   * id.
   */
  wakeIn(target: Target, delayMs: number): void {
    const step = Math.ceil((Date.now() + delayMs) / DELAY_STEP_MS);
    this.pending.set(`${targetKeyOf(target)}@${step}`, { target, delay: step * DELAY_STEP_MS - Date.now() });
    void this.addPending();
  }

  /** Makes one call to Redis at a time. The next one adds everything that was enqueued during it. */
  private async addPending(): Promise<void> {
    if (this.isAdding) return;
    this.isAdding = true;
    try {
      while (this.pending.size > 0) {
        const jobs = [...this.pending].map(([jobId, { target, delay }]) => ({
          data: target,
          opts: { jobId, delay, removeOnComplete: true, removeOnFail: true },
        }));
        this.pending.clear();
        // While Redis is down, its client would keep all jobs in memory. The poll finds these targets later.
        if (this.bull.client.status === 'ready') await this.bull.addBulk(jobs);
      }
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'wake-ups not enqueued; the poll finds what is due');
    } finally {
      this.isAdding = false;
    }
  }
}
