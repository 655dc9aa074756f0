import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { DeliveryQueue } from './delivery.queue';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';

const INTERVAL_MS = 2_000;
const MAX_WOKEN = 1_000;

/** Wakes endpoints with overdue deliveries: after a lost wake-up, a wiped Redis, a killed worker. */
@Injectable()
export class DeliverySweeper implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliverySweeper.name);
  private readonly sweeps = new Periodic(
    INTERVAL_MS,
    () => this.sweep(),
    (error) => this.logger.error({ err: error }, 'the sweep failed; it will be retried'),
  );

  constructor(
    private readonly deliveries: PendingDeliveriesRepository,
    private readonly queue: DeliveryQueue,
  ) {}

  onApplicationBootstrap(): void {
    this.sweeps.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.sweeps.stop();
  }

  private async sweep(): Promise<void> {
    // With a job id of its own: the endpoint's ordinary job may belong to a dead worker.
    for (const endpointId of await this.deliveries.sweep(MAX_WOKEN)) this.queue.wakeIn(endpointId, 0);
  }
}
