import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/outbox.module';
import { TableRegistry } from '../database/tables/table-registry';
import { AUDIT_TABLE, AuditEntriesRepository } from './audit-entries.repository';
import { AuditTally } from './audit-tally';
import { AuditService } from './audit.service';

@Module({
  imports: [OutboxModule],
  providers: [AuditEntriesRepository, AuditService, AuditTally],
  exports: [AuditEntriesRepository, AuditService, AuditTally],
})
export class AuditModule {
  constructor(tables: TableRegistry) {
    tables.register({
      name: AUDIT_TABLE,
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { none: 'WorkspaceDeleter takes it last, as the owner of the tables: the service may not.' },
      erasure: { none: 'It names who has done what, and of a contact or a message no more than the id.' },
      export: { none: 'It is about agents and operators.' },
      retention: { none: 'It is kept for ever.' },
    });
  }
}
