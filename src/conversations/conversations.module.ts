import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ContactsModule } from '../contacts/contacts.module';
import { DatabaseModule } from '../database/setup/database.module';
import { OutboxModule } from '../outbox/outbox.module';
import { TableRegistry } from '../database/tables/table-registry';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ContactConversationsService } from './contact-conversations.service';
import { AgentReleaser } from './agent-releaser';
import { AgentReleasesRepository } from './agent-releases.repository';
import { conversationTables } from './conversation-tables';
import { ConversationEntity } from './conversation.entity';
import { ConversationListsRepository } from './conversation-lists.repository';
import { ConversationsController } from './conversations.controller';
import { ConversationsRepository } from './conversations.repository';
import { ConversationsService } from './conversations.service';
import { ConversationWorks } from './conversation-works';
import { SnoozeWaker } from './snooze-waker';
import { SnoozesRepository } from './snoozes.repository';

@Module({
  imports: [
    DatabaseModule.forEntities([ConversationEntity]),
    ContactsModule,
    WorkspacesModule,
    OutboxModule,
    AuditModule,
  ],
  providers: [
    ConversationsRepository,
    ConversationListsRepository,
    ConversationsService,
    ContactConversationsService,
    ConversationWorks,
  ],
  exports: [ConversationsRepository, ConversationsService, ContactConversationsService, ConversationWorks],
})
export class ConversationsModule {
  constructor(tables: TableRegistry, conversations: ConversationsRepository) {
    tables.register(...conversationTables(conversations));
  }
}

/** Opens snoozed conversations, and makes those of deactivated agents nobody's, in workers. */
@Module({
  imports: [ConversationsModule, WorkspacesModule],
  providers: [SnoozesRepository, SnoozeWaker, AgentReleasesRepository, AgentReleaser],
})
export class ConversationsWorkerModule {}

@Module({ imports: [ConversationsModule], controllers: [ConversationsController] })
export class ConversationsApiModule {}
