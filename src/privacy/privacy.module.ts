import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ContactsModule } from '../contacts/contacts.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { DatabaseModule } from '../database/setup/database.module';
import { MessagesModule } from '../messages/messages.module';
import { OutboxModule } from '../outbox/outbox.module';
import { TableRegistry } from '../database/tables/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ContactErasureEntity } from './contact-erasure.entity';
import { ContactErasuresRepository } from './contact-erasures.repository';
import { ContactErasuresService } from './contact-erasures.service';
import { ContactExportService } from './contact-export.service';
import { MessageRetentionService } from './message-retention.service';
import { PRIVACY_TABLES } from './privacy-tables';

/** Provides the export and the erasure of contacts. */
@Module({
  imports: [
    DatabaseModule.forEntities([ContactErasureEntity]),
    AuditModule,
    ContactsModule,
    ConversationsModule,
    MessagesModule,
    OutboxModule,
    WorkspacesModule,
  ],
  providers: [
    ContactErasuresRepository,
    ContactErasuresService,
    ContactExportService,
    MessageRetentionService,
  ],
  exports: [ContactErasuresRepository, ContactErasuresService, ContactExportService, MessageRetentionService],
})
export class PrivacyModule {
  constructor(tables: TableRegistry) {
    tables.register(...PRIVACY_TABLES);
  }
}
