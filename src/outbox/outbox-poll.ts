import {
  BeforeApplicationShutdown,
  Injectable,
  Logger,
  OnApplicationBootstrap,
  OnModuleInit,
} from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { Database } from '../database/database';
import { SteppedSearch } from '../queue/polling/stepped-search';
import { OldestSnapshot } from '../database/oldest-snapshot';
import { OwnerDatabase } from '../database/owner-database';
import { QueueVacuum } from '../queue/polling/queue-vacuum';
import { Metrics } from '../metrics/metrics';
import { Polls } from '../queue/polling/polls';
import { EventQueueRepository } from './event-queue.repository';
import { OutboxRelay } from './outbox-relay';
import { ParkedEventsWorker } from './parked-events.worker';

/** Number of steps of one poll, so that it takes a bounded time. */
const MAX_STEPS = 10;
/** Number of relayed events after which the queue is vacuumed. Each event has left a dead row in it. */
const VACUUM_AFTER_EVENTS = 5_000;

/**
 * Finds events whose signal was lost or whose lease has ended, and parked events to be retried, every second.
 */
@Injectable()
export class OutboxPoll implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboxPoll.name);
  private readonly search = new SteppedSearch(LOWEST_ID, MAX_STEPS, async (after, place) => {
    const { tenantIds, next } = await this.events.findWorkspaces(after, place);
    this.relay.wake(tenantIds);
    return next;
  });
  private readonly vacuum: QueueVacuum;
  private relayed = 0;

  constructor(
    private readonly database: Database,
    private readonly events: EventQueueRepository,
    private readonly relay: OutboxRelay,
    private readonly parked: ParkedEventsWorker,
    private readonly metrics: Metrics,
    private readonly polls: Polls,
    owner: OwnerDatabase,
    snapshots: OldestSnapshot,
  ) {
    this.vacuum = new QueueVacuum(owner, snapshots, 'event_queue', VACUUM_AFTER_EVENTS, (error) =>
      this.logger.warn({ err: error }, 'event_queue was not vacuumed'),
    );
  }

  onModuleInit(): void {
    this.polls.register('events', () => this.findEvents());
    this.polls.register('parked events', () => this.parked.work());
  }

  onApplicationBootstrap(): void {
    this.vacuum.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.vacuum.stop();
  }

  private async findEvents(): Promise<void> {
    await this.search.run(await this.database.listPlaces());
    const { values } = await this.metrics.outboxRelayed.get();
    const relayed = values[0]?.value ?? 0;
    this.vacuum.count(relayed - this.relayed);
    this.relayed = relayed;
  }
}
