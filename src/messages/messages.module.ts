import { Module } from '@nestjs/common';
import { AttachmentsModule } from '../attachments/attachments.module';
import { AttachmentsRepository } from '../attachments/attachments.repository';
import { AuditModule } from '../audit/audit.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { IdempotencyModule } from '../idempotency/idempotency.module';
import { OutboxModule } from '../outbox/outbox.module';
import { TableRegistry } from '../database/tables/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { LostMessagesRepository } from './lost-messages.repository';
import { LostMessagesService } from './lost-messages.service';
import { MessageChanges } from './message-changes';
import { MessageChangesRepository } from './message-changes.repository';
import { MessageEraser } from './message-eraser';
import { MessageStatusRepository } from './message-status.repository';
import { MessageWriter } from './message-writer';
import { messageTables } from './message-tables';
import { MessagesController } from './messages.controller';
import { MessagesRepository } from './messages.repository';
import { MessagesService } from './messages.service';
import { StatusEvents } from './status-events';
import { UnlockedSendsRepository } from './unlocked-sends.repository';
import { UnsentMessagesRepository } from './unsent-messages.repository';

const EXPORTED = [
  MessagesRepository,
  MessageStatusRepository,
  UnsentMessagesRepository,
  MessageWriter,
  MessageEraser,
  MessageChanges,
  MessagesService,
  LostMessagesService,
];

@Module({
  imports: [
    AttachmentsModule,
    AuditModule,
    ConversationsModule,
    IdempotencyModule,
    OutboxModule,
    WorkspacesModule,
  ],
  providers: [
    LostMessagesRepository,
    MessageChangesRepository,
    StatusEvents,
    UnlockedSendsRepository,
    ...EXPORTED,
  ],
  exports: EXPORTED,
})
export class MessagesModule {
  constructor(tables: TableRegistry, messages: MessagesRepository, attachments: AttachmentsRepository) {
    tables.register(...messageTables(messages, attachments));
  }
}

@Module({ imports: [MessagesModule], controllers: [MessagesController] })
export class MessagesApiModule {}
