import { Module } from '@nestjs/common';
import { QueueFloorsModule } from '../queue/floors/queue-floors.module';
import { TableRegistry } from '../database/tables/table-registry';
import { EventNotices } from './event-notices';
import { EventlessChanges } from './eventless-changes';
import { EventQueueRepository } from './event-queue.repository';
import { outboxTables } from './outbox-tables';
import { OutboxService } from './outbox.service';
import { ParkedEventsRepository } from './parked-events.repository';

/** Lets every process append events and read parked ones. */
@Module({
  imports: [QueueFloorsModule],
  providers: [OutboxService, EventNotices, EventlessChanges, EventQueueRepository, ParkedEventsRepository],
  exports: [OutboxService, EventNotices, EventlessChanges, EventQueueRepository, ParkedEventsRepository],
})
export class OutboxModule {
  constructor(tables: TableRegistry, events: EventQueueRepository, parked: ParkedEventsRepository) {
    tables.register(...outboxTables(events, parked));
  }
}
