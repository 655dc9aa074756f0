import { Logger, OnModuleInit } from '@nestjs/common';
import type { Queue } from 'bull';

/** A job carries the id of a target and nothing else. */
export interface WakeUp {
  id: string;
}

/** Delayed wake-ups of one target within one step are one job. */
const DELAY_STEP_MS = 100;

type WakeHandler = (ids: Iterable<string>) => void;

/**
 * Wakes a worker to check whether a target (an endpoint, a connection) has something due. A lost wake-up costs the time
 * until the next sweep, so no caller waits for Redis.
 */
export class WakeUpQueue implements OnModuleInit {
  private readonly logger = new Logger(this.constructor.name);
  /** By job id. */
  private readonly pending = new Map<string, { id: string; delay: number }>();
  private isAdding = false;
  private localHandler: WakeHandler | null = null;

  constructor(protected readonly bull: Queue<WakeUp>) {}

  /** Without a listener, an error of the queue would end the process. */
  onModuleInit(): void {
    this.bull.on('error', (error: Error) =>
      this.logger.warn({ err: error }, 'the queue has no connection to Redis'),
    );
  }

  /** From now on `wake` calls the handler: a job would only cost time. */
  handleLocally(handler: WakeHandler): void {
    this.localHandler = handler;
  }

  stopHandlingLocally(): void {
    this.localHandler = null;
  }

  wake(ids: Iterable<string>): void {
    if (this.localHandler) this.localHandler(ids);
    else this.enqueue(ids);
  }

  /** Wakes targets by a job, in any worker. While a target's job waits, Bull ignores a second one. */
  enqueue(ids: Iterable<string>): void {
    for (const id of ids) this.pending.set(id, { id, delay: 0 });
    void this.addPending();
  }

  /** Wakes a target after a delay, by a job with an id of its own: Bull would ignore a second job of the same id. */
  wakeIn(id: string, delayMs: number): void {
    const step = Math.ceil((Date.now() + delayMs) / DELAY_STEP_MS);
    this.pending.set(`${id}@${step}`, { id, delay: step * DELAY_STEP_MS - Date.now() });
    void this.addPending();
  }

  /** One call to Redis at a time; the next one adds everything that was enqueued during it. */
  private async addPending(): Promise<void> {
    if (this.isAdding) return;
    this.isAdding = true;
    try {
      while (this.pending.size > 0) {
        const jobs = [...this.pending].map(([jobId, { id, delay }]) => ({
          data: { id },
          opts: { jobId, delay, removeOnComplete: true, removeOnFail: true },
        }));
        this.pending.clear();
        // While Redis is down the client would keep them all in memory. The sweeper wakes these targets later.
        if (this.bull.client.status === 'ready') await this.bull.addBulk(jobs);
      }
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'wake-ups not enqueued; the sweeper will retry');
    } finally {
      this.isAdding = false;
    }
  }
}
