import {
  BeforeApplicationShutdown,
  Injectable,
  Logger,
  OnApplicationBootstrap,
  OnModuleInit,
} from '@nestjs/common';
import { Database } from '../../database/database';
import { ScheduleSearch, SteppedSearch } from '../../queue/polling/stepped-search';
import { DatabaseClock } from '../../database/database-clock';
import { OldestSnapshot } from '../../database/oldest-snapshot';
import { OwnerDatabase } from '../../database/owner-database';
import { QueueVacuum } from '../../queue/polling/queue-vacuum';
import { Polls } from '../../queue/polling/polls';
import { Target } from '../../queue/targets';
import { DeliveryWorker } from './delivery.worker';
import { BEFORE_ALL_ENDPOINTS, DueDeliveriesRepository } from './due-deliveries.repository';

/** Number of steps that each search makes in one poll. */
const MAX_STEPS = 10;
/** Number of found targets after which `pending_deliveries` is vacuumed. Each has left a dead row in it. */
const VACUUM_AFTER_TARGETS = 500;

/**
 * Finds what is due among the pending deliveries, every second: retries and ended leases by their time, and
 * everything else step by step, as after a worker was killed. So no delivery depends on a wake-up.
 */
@Injectable()
export class DeliveryPoll implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryPoll.name);
  private readonly scheduled = new ScheduleSearch(MAX_STEPS, async (since, place) => {
    const step = await this.deliveries.findScheduled(since, place);
    this.wake(step.targets);
    return step;
  });
  private readonly due = new SteppedSearch(BEFORE_ALL_ENDPOINTS, MAX_STEPS, async (after, place) => {
    const { targets, next } = await this.deliveries.findDue(after, place);
    this.wake(targets);
    return next;
  });
  private readonly vacuum: QueueVacuum;

  constructor(
    private readonly database: Database,
    private readonly deliveries: DueDeliveriesRepository,
    private readonly worker: DeliveryWorker,
    private readonly clock: DatabaseClock,
    private readonly polls: Polls,
    owner: OwnerDatabase,
    snapshots: OldestSnapshot,
  ) {
    this.vacuum = new QueueVacuum(owner, snapshots, 'pending_deliveries', VACUUM_AFTER_TARGETS, (error) =>
      this.logger.warn({ err: error }, 'pending_deliveries was not vacuumed'),
    );
  }

  onModuleInit(): void {
    this.polls.register('scheduled deliveries', () => this.runSearch(this.scheduled));
    this.polls.register('due deliveries', () => this.runSearch(this.due));
  }

  onApplicationBootstrap(): void {
    this.vacuum.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.vacuum.stop();
  }

  private async runSearch(search: DeliveryPoll['scheduled'] | DeliveryPoll['due']): Promise<void> {
    if (this.clock.isTrusted) await search.run(await this.database.listPlaces());
  }

  private wake(targets: Target[]): void {
    this.vacuum.count(targets.length);
    this.worker.runner.wake(targets);
  }
}
