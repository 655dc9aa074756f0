import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { ParkedEventsService } from './parked-events.service';

/** Provides the operators' requests for parked events. `ParkedEventsWorker` carries the requests out. */
@Module({
  imports: [OutboxModule, AuditModule],
  providers: [ParkedEventsService],
  exports: [ParkedEventsService],
})
export class ParkedEventsModule {}
