import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { ScheduleSearch, SteppedSearch } from '../../database/stepped-search';
import { DatabaseClock } from '../../database/database-clock';
import { OldestSnapshot } from '../../database/oldest-snapshot';
import { OwnerDatabase } from '../../database/owner-database';
import { QueueVacuum } from '../../database/queue-vacuum';
import { Target } from '../../queue/targets';
import { DeliveryWorker } from './delivery.worker';
import { BEFORE_ALL_ENDPOINTS, DueDeliveriesRepository } from './due-deliveries.repository';

const INTERVAL_MS = 1_000;
/** Number of steps that each search makes in one poll. */
const MAX_STEPS = 10;
/** Number of found targets after which `pending_deliveries` is vacuumed. Each has left a dead row in it. */
const VACUUM_AFTER_TARGETS = 500;

/**
 * Finds what is due among the pending deliveries, every second: retries and ended leases by their time, and
 * everything else step by step, as after a worker was killed. So no delivery depends on a wake-up.
 */
@Injectable()
export class DeliveryPoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryPoll.name);
  private readonly polls = new Periodic(
    INTERVAL_MS,
    () => this.poll(),
    (error) => this.logger.error({ err: error }, 'the poll failed; it will be retried'),
  );
  private readonly scheduled = new ScheduleSearch(MAX_STEPS, async (since) => {
    const step = await this.deliveries.findScheduled(since);
    this.wake(step.targets);
    return step;
  });
  private readonly due = new SteppedSearch(BEFORE_ALL_ENDPOINTS, MAX_STEPS, async (after) => {
    const { targets, next } = await this.deliveries.findDue(after);
    this.wake(targets);
    return next;
  });
  private readonly vacuum: QueueVacuum;

  constructor(
    private readonly deliveries: DueDeliveriesRepository,
    private readonly worker: DeliveryWorker,
    private readonly clock: DatabaseClock,
    owner: OwnerDatabase,
    snapshots: OldestSnapshot,
  ) {
    this.vacuum = new QueueVacuum(owner, snapshots, 'pending_deliveries', VACUUM_AFTER_TARGETS, (error) =>
      this.logger.warn({ err: error }, 'pending_deliveries was not vacuumed'),
    );
  }

  onApplicationBootstrap(): void {
    this.polls.start();
    this.vacuum.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.polls.stop(), this.vacuum.stop()]);
  }

  private async poll(): Promise<void> {
    if (!this.clock.isTrusted) return;
    await this.scheduled.run();
    await this.due.run();
  }

  private wake(targets: Target[]): void {
    this.vacuum.count(targets.length);
    this.worker.runner.wake(targets);
  }
}
