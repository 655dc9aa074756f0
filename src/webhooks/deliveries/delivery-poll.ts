import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { OldestSnapshot } from '../../database/oldest-snapshot';
import { OwnerDatabase } from '../../database/owner-database';
import { QueueVacuum } from '../../queue/polling/queue-vacuum';
import { Polls } from '../../queue/polling/polls';
import { Target } from '../../queue/targets';
import { DeliveryWorker } from './delivery.worker';
import { BEFORE_ALL_ENDPOINTS, DueDeliveriesRepository } from './due-deliveries.repository';

/** `pending_deliveries` is vacuumed after this number of endpoints, whose claims leave dead rows. */
const VACUUM_AFTER_TARGETS = 500;

/**
 * Finds due deliveries every second, so that no delivery depends on a wake-up. It finds retries and ended
 * leases by their due time, and all other due deliveries endpoint by endpoint.
 */
@Injectable()
export class DeliveryPoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryPoll.name);
  private readonly vacuum: QueueVacuum;

  constructor(
    deliveries: DueDeliveriesRepository,
    private readonly worker: DeliveryWorker,
    polls: Polls,
    owner: OwnerDatabase,
    snapshots: OldestSnapshot,
  ) {
    this.vacuum = new QueueVacuum(owner, snapshots, 'pending_deliveries', VACUUM_AFTER_TARGETS, (error) =>
      this.logger.warn({ err: error }, 'pending_deliveries was not vacuumed'),
    );
    polls.searchSchedule('scheduled deliveries', async (since, server) => {
      const step = await deliveries.findScheduled(since, server);
      this.wake(step.targets);
      return step;
    });
    polls.search('due deliveries', BEFORE_ALL_ENDPOINTS, async (after, server) => {
      const { targets, next } = await deliveries.findDue(after, server);
      this.wake(targets);
      return next;
    });
  }

  onApplicationBootstrap(): void {
    this.vacuum.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.vacuum.stop();
  }

  private wake(targets: Target[]): void {
    this.vacuum.count(targets.length);
    this.worker.runner.wake(targets);
  }
}
