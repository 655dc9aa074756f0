import { Module } from '@nestjs/common';
import { EventQueueRepository } from './event-queue.repository';
import { OutboxService } from './outbox.service';
import { OutboxSignal } from './outbox-signal';
import { ParkedEventsRepository } from './parked-events.repository';

/** What every process needs of the outbox: to append events, and to know of parked ones. */
@Module({
  providers: [OutboxService, OutboxSignal, EventQueueRepository, ParkedEventsRepository],
  exports: [OutboxService, OutboxSignal, EventQueueRepository, ParkedEventsRepository],
})
export class OutboxModule {}
