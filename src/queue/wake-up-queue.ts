import { getQueueToken } from '@nestjs/bull';
import { BeforeApplicationShutdown, FactoryProvider, Inject, Logger, OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bull';
import { closeQueue } from './close-queue';
import { targetKeyOf, Target } from './targets';

/** Delayed wake-ups are rounded up to a multiple of this many milliseconds, so that several share a job. */
const DELAY_STEP_MS = 100;

export const InjectWakeUps = (queue: string) => Inject(wakeUpsOf(queue));

export function wakeUpsOf(queue: string): string {
  return `wake-ups:${queue}`;
}

export function provideWakeUps(queue: string): FactoryProvider<WakeUpQueue> {
  return {
    provide: wakeUpsOf(queue),
    inject: [getQueueToken(queue)],
    useFactory: (bull: Queue<Target>) => new WakeUpQueue(bull),
  };
}

type WakeHandler = (targets: Iterable<Target>) => void;

/**
 * Wakes a worker for a target: the worker then checks whether the target has due work. Callers need not wait
 * for Redis, because the poll finds the work of a lost wake-up within about a second.
 */
export class WakeUpQueue implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger: Logger;
  /** Wake-ups that have not been added to Redis yet, by the id of their job. */
  private readonly pending = new Map<string, { target: Target; delay: number }>();
  private isAdding = false;
  private localHandler: WakeHandler | null = null;

  constructor(private readonly bull: Queue<Target>) {
    this.logger = new Logger(`${WakeUpQueue.name} ${bull.name}`);
  }

  /** Logs errors of the queue, because an `error` event without a listener ends the process. */
  onModuleInit(): void {
    this.bull.on('error', (error: Error) =>
      this.logger.warn({ err: error }, 'the queue has no connection to Redis'),
    );
  }

  /** Closes the queue here, because @nestjs/bull alone would wait for ever while Redis is down. */
  async beforeApplicationShutdown(): Promise<void> {
    await closeQueue(this.bull, []);
  }

  /** Makes `wake` call a handler in this process instead of adding jobs, which would take longer. */
  handleLocally(handler: WakeHandler): void {
    this.localHandler = handler;
  }

  stopHandlingLocally(): void {
    this.localHandler = null;
  }

  wake(targets: Iterable<Target>): void {
    if (this.localHandler) this.localHandler(targets);
    else this.enqueue(targets);
  }

  /** Adds a job for each target, which any worker may take. Bull ignores a second job of a target. */
  enqueue(targets: Iterable<Target>): void {
    for (const target of targets) this.pending.set(targetKeyOf(target), { target, delay: 0 });
    void this.addPending();
  }

  /** Wakes a worker after a delay. The job's id includes the time, because Bull ignores an id that exists. */
  wakeIn(target: Target, delayMs: number): void {
    const step = Math.ceil((Date.now() + delayMs) / DELAY_STEP_MS);
    this.pending.set(`${targetKeyOf(target)}@${step}`, { target, delay: step * DELAY_STEP_MS - Date.now() });
    void this.addPending();
  }

  /** Adds pending wake-ups to Redis, one call at a time. Wake-ups that come meanwhile wait for the next. */
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
        // While Redis is down, no job is added, because its client would store all jobs in memory.
        if (this.bull.client.status === 'ready') await this.bull.addBulk(jobs);
      }
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'wake-ups not enqueued; the poll finds what is due');
    } finally {
      this.isAdding = false;
    }
  }
}
