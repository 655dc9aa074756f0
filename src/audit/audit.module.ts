import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { OutboxModule } from '../outbox/outbox.module';
import { AuditEntryEntity } from './audit-entry.entity';
import { AuditService } from './audit.service';

@Module({
  imports: [DatabaseModule.forEntities([AuditEntryEntity]), OutboxModule],
  providers: [AuditService],
  exports: [AuditService],
})
export class AuditModule {}
