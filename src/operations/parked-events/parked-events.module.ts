import { Module } from '@nestjs/common';
import { AuditModule } from '../../audit/audit.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { ParkedEventsService } from './parked-events.service';

/** Lets operators list parked events and decide about them. The outbox's worker carries the decisions out. */
@Module({
  imports: [OutboxModule, AuditModule],
  providers: [ParkedEventsService],
  exports: [ParkedEventsService],
})
export class ParkedEventsModule {}
