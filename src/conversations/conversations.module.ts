import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { ContactsModule } from '../contacts/contacts.module';
import { DatabaseModule } from '../database/database.module';
import { OutboxModule } from '../outbox/outbox.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { ConversationEntity } from './conversation.entity';
import { ConversationsController } from './conversations.controller';
import { ConversationsRepository } from './conversations.repository';
import { ConversationsService } from './conversations.service';

@Module({
  imports: [
    DatabaseModule.forEntities([ConversationEntity]),
    ContactsModule,
    WorkspacesModule,
    OutboxModule,
    AuditModule,
  ],
  providers: [ConversationsRepository, ConversationsService],
  exports: [ConversationsRepository, ConversationsService],
})
export class ConversationsModule {}

@Module({ imports: [ConversationsModule], controllers: [ConversationsController] })
export class ConversationsApiModule {}
