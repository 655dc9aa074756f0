import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/setup/database.module';
import { OutboxModule } from '../outbox/outbox.module';
import { TableRegistry } from '../database/tables/table-registry';
import { AuditEntryEntity } from './audit-entry.entity';
import { AuditEntriesRepository } from './audit-entries.repository';
import { AUDIT_TABLES } from './audit-tables';
import { AuditTally } from './audit-tally';
import { AuditService } from './audit.service';

@Module({
  imports: [DatabaseModule.forEntities([AuditEntryEntity]), OutboxModule],
  providers: [AuditEntriesRepository, AuditService, AuditTally],
  exports: [AuditEntriesRepository, AuditService, AuditTally],
})
export class AuditModule {
  constructor(tables: TableRegistry) {
    tables.register(...AUDIT_TABLES);
  }
}
