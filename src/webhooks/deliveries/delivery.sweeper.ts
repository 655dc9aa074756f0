import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { DeliveryQueue } from './delivery.queue';
import { DeliveryStore } from './delivery.store';

const INTERVAL_MS = 2_000;
const MAX_WOKEN = 1_000;

/** Wakes endpoints whose deliveries are overdue and nobody's: after a lost wake-up, a wiped Redis, a killed worker. */
@Injectable()
export class DeliverySweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliverySweeper.name);
  private timer: NodeJS.Timeout | null = null;
  private sweeping: Promise<void> = Promise.resolve();

  constructor(
    private readonly store: DeliveryStore,
    private readonly queue: DeliveryQueue,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setTimeout(() => this.run(), INTERVAL_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    await this.sweeping;
  }

  private run(): void {
    this.sweeping = this.sweep().then(() => {
      if (this.timer) this.timer = setTimeout(() => this.run(), INTERVAL_MS);
    });
  }

  private async sweep(): Promise<void> {
    try {
      // By jobs of their own: an endpoint's ordinary job may be held by a worker that is dead.
      for (const endpointId of await this.store.sweep(MAX_WOKEN)) this.queue.wakeIn(endpointId, 0);
    } catch (error) {
      this.logger.error({ err: error as Error }, 'sweeping failed; it is tried again');
    }
  }
}
