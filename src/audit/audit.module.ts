import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { OutboxModule } from '../outbox/outbox.module';
import { AuditEntryEntity } from './audit-entry.entity';
import { AuditEntriesRepository } from './audit-entries.repository';
import { AuditTally } from './audit-tally';
import { AuditService } from './audit.service';

@Module({
  imports: [DatabaseModule.forEntities([AuditEntryEntity]), OutboxModule],
  providers: [AuditEntriesRepository, AuditService, AuditTally],
  exports: [AuditEntriesRepository, AuditService, AuditTally],
})
export class AuditModule {}
