import { Module } from '@nestjs/common';
import { QueueFloorsModule } from '../queue/floors/queue-floors.module';
import { TableRegistry } from '../database/tables/table-registry';
import { EventNotices } from './event-notices';
import { EventlessChanges } from './eventless-changes';
import { EventQueueRepository } from './event-queue.repository';
import { EventsRepository } from './events.repository';
import { QueuedWorkspacesRepository } from './queued-workspaces.repository';
import { outboxTables } from './outbox-tables';
import { OutboxPoll } from './outbox-poll';
import { OutboxRelay } from './outbox-relay';
import { OutboxService } from './outbox.service';
import { ParkedEventsRepository } from './parked-events.repository';
import { ParkedEventsWorker } from './parked-events.worker';
import { RelayFailures } from './relay-failures';
import { RelayTurn } from './relay-turn';

const SERVICES = [
  OutboxService,
  EventNotices,
  EventlessChanges,
  EventQueueRepository,
  EventsRepository,
  ParkedEventsRepository,
];

@Module({
  imports: [QueueFloorsModule],
  providers: SERVICES,
  exports: SERVICES,
})
export class OutboxModule {
  constructor(tables: TableRegistry, events: EventsRepository, parked: ParkedEventsRepository) {
    tables.register(...outboxTables(events, parked));
  }
}

/** Relays events to consumers, in worker processes. Consumers register themselves with `OutboxRelay`. */
@Module({
  imports: [OutboxModule, QueueFloorsModule],
  providers: [
    OutboxRelay,
    RelayTurn,
    RelayFailures,
    OutboxPoll,
    ParkedEventsWorker,
    QueuedWorkspacesRepository,
  ],
  exports: [OutboxRelay],
})
export class OutboxWorkerModule {}
