import { Module } from '@nestjs/common';
import { EventQueueRepository } from './event-queue.repository';
import { OutboxService } from './outbox.service';
import { OutboxSignal } from './outbox.signal';
import { ParkedEventsRepository } from './parked-events.repository';
import { ParkedEventsService } from './parked-events.service';

/** What every process needs of the outbox: to append events, and to ask for parked ones. */
@Module({
  providers: [OutboxService, OutboxSignal, EventQueueRepository, ParkedEventsRepository, ParkedEventsService],
  exports: [OutboxService, OutboxSignal, EventQueueRepository, ParkedEventsRepository, ParkedEventsService],
})
export class OutboxModule {}
