import { BeforeApplicationShutdown, Injectable, Logger, OnApplicationBootstrap } from '@nestjs/common';
import { LOWEST_ID } from '../common/ids';
import { OldestSnapshot } from '../database/oldest-snapshot';
import { OwnerDatabase } from '../database/owner-database';
import { QueueVacuum } from '../queue/polling/queue-vacuum';
import { Metrics } from '../metrics/metrics';
import { Polls } from '../queue/polling/polls';

import { QueuedWorkspacesRepository } from './queued-workspaces.repository';
import { OutboxRelay } from './outbox-relay';

/** Number of relayed events after which `event_queue` is vacuumed, because each leaves a dead row there. */
const VACUUM_AFTER_EVENTS = 5_000;

/** Searches once a second for events whose signal was lost or whose lease has ended, and wakes the relay. */
@Injectable()
export class OutboxPoll implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(OutboxPoll.name);
  private readonly vacuum: QueueVacuum;
  private relayed = 0;

  constructor(
    events: QueuedWorkspacesRepository,
    relay: OutboxRelay,
    private readonly metrics: Metrics,
    polls: Polls,
    owner: OwnerDatabase,
    snapshots: OldestSnapshot,
  ) {
    this.vacuum = new QueueVacuum(owner, snapshots, 'event_queue', VACUUM_AFTER_EVENTS, (error) =>
      this.logger.warn({ err: error }, 'event_queue was not vacuumed'),
    );
    polls.search('events', LOWEST_ID, async (after, server) => {
      const { tenantIds, next } = await events.findWorkspaces(after, server);
      relay.wake(tenantIds);
      await this.countRelayed();
      return next;
    });
  }

  onApplicationBootstrap(): void {
    this.vacuum.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.vacuum.stop();
  }

  private async countRelayed(): Promise<void> {
    const { values } = await this.metrics.outboxRelayed.get();
    const relayed = values[0]?.value ?? 0;
    this.vacuum.count(relayed - this.relayed);
    this.relayed = relayed;
  }
}
