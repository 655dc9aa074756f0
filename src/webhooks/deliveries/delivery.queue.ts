import { InjectQueue } from '@nestjs/bull';
import { Injectable, Logger } from '@nestjs/common';
import type { Queue } from 'bull';

export const DELIVERY_QUEUE = 'webhook-endpoints';

/** What a job carries: which endpoint to look after. Everything else is in the database. */
export interface EndpointJob {
  endpointId: string;
}

/** Delayed wake-ups of one endpoint within this time are one. */
const DELAY_STEP_MS = 100;

/**
 * Wakes endpoints: a job says "look whether something is due", no more. A lost wake-up costs time, until the sweeper
 * comes; it never costs a delivery, so nobody waits for Redis here.
 */
@Injectable()
export class DeliveryQueue {
  private readonly logger = new Logger(DeliveryQueue.name);
  private readonly wanted = new Map<string, { endpointId: string; delay: number }>();
  private adding = false;

  constructor(@InjectQueue(DELIVERY_QUEUE) private readonly queue: Queue<EndpointJob>) {}

  /** Wakes endpoints now. While an endpoint's job waits in the queue, another one adds nothing. */
  wake(endpointIds: Iterable<string>): void {
    for (const endpointId of endpointIds) this.wanted.set(endpointId, { endpointId, delay: 0 });
    void this.addWanted();
  }

  /** Wakes an endpoint after a while, by a job of its own: a waiting one must not swallow it. */
  wakeIn(endpointId: string, delayMs: number): void {
    const step = Math.ceil((Date.now() + delayMs) / DELAY_STEP_MS);
    this.wanted.set(`${endpointId}@${step}`, { endpointId, delay: step * DELAY_STEP_MS - Date.now() });
    void this.addWanted();
  }

  /** One call to Redis at a time; what is wanted meanwhile goes into the next. */
  private async addWanted(): Promise<void> {
    if (this.adding) return;
    this.adding = true;
    try {
      while (this.wanted.size > 0) {
        const jobs = [...this.wanted].map(([jobId, { endpointId, delay }]) => ({
          data: { endpointId },
          opts: { jobId, delay, removeOnComplete: true, removeOnFail: true },
        }));
        this.wanted.clear();
        // Kept out of the client's own memory while Redis is away: the sweeper finds what is owed.
        if (this.queue.client.status === 'ready') await this.queue.addBulk(jobs);
      }
    } catch (error) {
      this.logger.warn({ err: error as Error }, 'endpoints not woken; the sweeper will');
    } finally {
      this.adding = false;
    }
  }
}
