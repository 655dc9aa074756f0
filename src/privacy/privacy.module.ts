import { Module } from '@nestjs/common';
import { AttachmentsModule } from '../attachments/attachments.module';
import { AuditModule } from '../audit/audit.module';
import { ContactsModule } from '../contacts/contacts.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { MessagesModule } from '../messages/messages.module';
import { OutboxModule } from '../outbox/outbox.module';
import { TableRegistry } from '../database/tables/table-registry';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ContactArchiveService } from './contact-archive.service';
import { ContactErasureRunner } from './contact-erasure-runner';
import { ContactErasuresRepository } from './contact-erasures.repository';
import { ContactErasuresService } from './contact-erasures.service';
import { ContactExportService } from './contact-export.service';
import { MessageRetentionService } from './message-retention.service';
import { UnsentMessageRunner } from './unsent-message-runner';

const EXPORTED = [
  ContactArchiveService,
  ContactErasuresRepository,
  ContactErasuresService,
  ContactExportService,
  MessageRetentionService,
];

@Module({
  imports: [
    AttachmentsModule,
    AuditModule,
    ContactsModule,
    ConversationsModule,
    MessagesModule,
    OutboxModule,
    RateLimitModule,
    WorkspacesModule,
  ],
  providers: EXPORTED,
  exports: EXPORTED,
})
export class PrivacyModule {
  constructor(tables: TableRegistry) {
    tables.register({
      name: 'contact_erasures',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['contacts'] },
      erasure: { none: 'It proves that a contact was erased, and says nothing of them.' },
      export: { none: 'An erased contact has nothing to export.' },
      retention: { none: 'A row stays as the proof of an erasure.' },
    });
  }
}

/** Runs the erasures of contacts and of unsent messages, in worker processes. */
@Module({
  imports: [PrivacyModule, AuditModule, ConversationsModule, MessagesModule, OutboxModule],
  providers: [ContactErasureRunner, UnsentMessageRunner],
})
export class PrivacyWorkerModule {}
