import { Module } from '@nestjs/common';
import { ConversationsModule } from '../conversations/conversations.module';
import { DatabaseModule } from '../database/database.module';
import { IdempotencyModule } from '../idempotency/idempotency.module';
import { OutboxModule } from '../outbox/outbox.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { MessageEntity } from './message.entity';
import { MessagesController } from './messages.controller';
import { MessagesRepository } from './messages.repository';
import { MessagesService } from './messages.service';

@Module({
  imports: [
    DatabaseModule.forEntities([MessageEntity]),
    ConversationsModule,
    IdempotencyModule,
    OutboxModule,
    WorkspacesModule,
  ],
  providers: [MessagesRepository, MessagesService],
  exports: [MessagesService],
})
export class MessagesModule {}

@Module({ imports: [MessagesModule], controllers: [MessagesController] })
export class MessagesApiModule {}
