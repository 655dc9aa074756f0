import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { Periodic } from '../../common/periodic';
import { DatabaseClock } from '../../database/database-clock';
import { DeliveryWorker } from './delivery.worker';
import { FIRST_POSITION, PendingDeliveriesRepository } from './pending-deliveries.repository';

const INTERVAL_MS = 1_000;
/** Steps of each search in one poll. The next poll goes on from there. */
const MAX_STEPS = 20;
/** A row that was written late, just before the time that the last poll looked at. */
const OVERLAP_MS = 2_000;
/** Each leaves a dead row in the queue. */
const VACUUM_AFTER_TARGETS = 500;

/**
 * Finds, every second, what is due in the pending deliveries: retries and ended leases by their time, and step by step
 * everything else, as after a worker was killed. So nothing depends on a wake-up.
 */
@Injectable()
export class DeliveryPoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryPoll.name);
  private readonly polls = new Periodic(
    INTERVAL_MS,
    () => this.poll(),
    (error) => this.logger.error({ err: error }, 'the poll failed; it will be retried'),
  );
  private scheduledUntil = new Date(0);
  private position = FIRST_POSITION;
  private found = 0;

  constructor(
    private readonly deliveries: PendingDeliveriesRepository,
    private readonly worker: DeliveryWorker,
    private readonly clock: DatabaseClock,
  ) {}

  onApplicationBootstrap(): void {
    this.polls.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.polls.stop();
  }

  private async poll(): Promise<void> {
    if (!this.clock.isTrusted) return;
    await this.findScheduled();
    await this.findDue();
    if (this.found < VACUUM_AFTER_TARGETS) return;
    this.found = 0;
    await this.deliveries.vacuum();
  }

  private async findScheduled(): Promise<void> {
    let since = new Date(this.scheduledUntil.getTime() - OVERLAP_MS);
    for (let step = 0; step < MAX_STEPS; step++) {
      const { targets, until, isLast } = await this.deliveries.findScheduled(since);
      this.found += targets.length;
      this.worker.wake(targets);
      since = until;
      if (isLast) break;
    }
    this.scheduledUntil = since;
  }

  private async findDue(): Promise<void> {
    for (let step = 0; step < MAX_STEPS; step++) {
      const { targets, next } = await this.deliveries.findDue(this.position);
      this.found += targets.length;
      this.worker.wake(targets);
      this.position = next ?? FIRST_POSITION;
      if (next === null) return;
    }
  }
}
