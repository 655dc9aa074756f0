import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ContactsModule } from '../contacts/contacts.module';
import { OutboxModule } from '../outbox/outbox.module';
import { TableRegistry } from '../database/tables/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AnswersElsewhere } from './answers-elsewhere';
import { ContactConversationsService } from './contact-conversations.service';
import { AgentReleaser } from './agent-releaser';
import { AgentReleasesRepository } from './agent-releases.repository';
import { ContactConversationsRepository } from './contact-conversations.repository';
import { conversationTables } from './conversation-tables';
import { ConversationListsRepository } from './conversation-lists.repository';
import { ConversationsController } from './conversations.controller';
import { ConversationsRepository } from './conversations.repository';
import { ConversationsService } from './conversations.service';
import { ConversationWorks } from './conversation-works';
import { ConversationWriter } from './conversation-writer';
import { SnoozeWaker } from './snooze-waker';
import { SnoozesRepository } from './snoozes.repository';

const EXPORTED = [
  AnswersElsewhere,
  ConversationsRepository,
  ContactConversationsRepository,
  ConversationsService,
  ContactConversationsService,
  ConversationWorks,
  ConversationWriter,
];

@Module({
  imports: [ContactsModule, WorkspacesModule, OutboxModule, AuditModule],
  providers: [ConversationListsRepository, ...EXPORTED],
  exports: EXPORTED,
})
export class ConversationsModule {
  constructor(tables: TableRegistry, conversations: ConversationsRepository) {
    tables.register(...conversationTables(conversations));
  }
}

@Module({
  imports: [ConversationsModule, WorkspacesModule],
  providers: [SnoozesRepository, SnoozeWaker, AgentReleasesRepository, AgentReleaser],
})
export class ConversationsWorkerModule {}

@Module({ imports: [ConversationsModule], controllers: [ConversationsController] })
export class ConversationsApiModule {}
