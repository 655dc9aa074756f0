import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { OutboxModule } from '../outbox/outbox.module';
import { ParkedEventsService } from './parked-events.service';

/** What operators ask of parked events. The outbox's worker does it. */
@Module({
  imports: [OutboxModule, AuditModule],
  providers: [ParkedEventsService],
  exports: [ParkedEventsService],
})
export class ParkedEventsModule {}
