import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { Periodic } from '../common/periodic';
import { SteppedSearch } from '../database/stepped-search';
import { OldestSnapshot } from '../database/oldest-snapshot';
import { OwnerDatabase } from '../database/owner-database';
import { QueueVacuum } from '../database/queue-vacuum';
import { Metrics } from '../metrics/metrics';
import { EventQueueRepository } from './event-queue.repository';
import { OutboxRelay } from './outbox-relay';
import { ParkedEventsWorker } from './parked-events.worker';

const INTERVAL_MS = 1_000;
/** Number of steps of one poll, so that it takes a bounded time. */
const MAX_STEPS = 10;
/** Number of relayed events after which the queue is vacuumed. Each event has left a dead row in it. */
const VACUUM_AFTER_EVENTS = 5_000;

/**
 * Finds events whose signal was lost or whose lease has ended, and parked events to be retried, every second.
 */
@Injectable()
export class OutboxPoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboxPoll.name);
  private readonly polls = new Periodic(
    INTERVAL_MS,
    () => this.poll(),
    (error) => this.logger.error({ err: error }, 'the poll failed; it will be retried'),
  );
  private readonly search = new SteppedSearch(LOWEST_ID, MAX_STEPS, async (after) => {
    const { tenantIds, next } = await this.events.findWorkspaces(after);
    this.relay.wake(tenantIds);
    return next;
  });
  private readonly vacuum: QueueVacuum;
  private relayed = 0;

  constructor(
    private readonly events: EventQueueRepository,
    private readonly relay: OutboxRelay,
    private readonly parked: ParkedEventsWorker,
    private readonly metrics: Metrics,
    owner: OwnerDatabase,
    snapshots: OldestSnapshot,
  ) {
    this.vacuum = new QueueVacuum(owner, snapshots, 'event_queue', VACUUM_AFTER_EVENTS, (error) =>
      this.logger.warn({ err: error }, 'event_queue was not vacuumed'),
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
    await this.search.run();
    await this.parked.work();
    const { values } = await this.metrics.outboxRelayed.get();
    const relayed = values[0]?.value ?? 0;
    this.vacuum.count(relayed - this.relayed);
    this.relayed = relayed;
  }
}
