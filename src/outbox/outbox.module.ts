import { Module } from '@nestjs/common';
import { QueueFloorsModule } from '../queue-floors/queue-floors.module';
import { TableRegistry } from '../stored-data/table-registry';
import { EventNotices } from './event-notices';
import { EventQueueRepository } from './event-queue.repository';
import { outboxTables } from './outbox-tables';
import { OutboxService } from './outbox.service';
import { ParkedEventsRepository } from './parked-events.repository';

/** Lets every process append events and read parked ones. */
@Module({
  imports: [QueueFloorsModule],
  providers: [OutboxService, EventNotices, EventQueueRepository, ParkedEventsRepository],
  exports: [OutboxService, EventNotices, EventQueueRepository, ParkedEventsRepository],
})
export class OutboxModule {
  constructor(tables: TableRegistry, events: EventQueueRepository, parked: ParkedEventsRepository) {
    tables.register(...outboxTables(events, parked));
  }
}
