import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { IdempotencyModule } from '../../idempotency/idempotency.module';
import { MessagesModule } from '../../messages/messages.module';
import { QueueFloorsModule } from '../../queue/floors/queue-floors.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { NewConversationsController } from './new-conversations.controller';
import { NewConversationsService } from './new-conversations.service';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { outboundMessageTables } from './outbound-message-tables';
import { ReplyChecksRepository } from './reply-checks.repository';
import { ReplyChecksService } from './reply-checks.service';

/**
 * Gives access to the rows of outbound messages, without a queue that wakes their workers, checks what would
 * become of one, and opens conversations for them.
 */
@Module({
  imports: [
    ChannelConnectionsModule,
    ContactsModule,
    ConversationsModule,
    IdempotencyModule,
    MessagesModule,
    QueueFloorsModule,
  ],
  providers: [OutboundMessagesRepository, ReplyChecksRepository, ReplyChecksService, NewConversationsService],
  exports: [OutboundMessagesRepository, ReplyChecksService, NewConversationsService],
})
export class OutboundMessagesModule {
  constructor(tables: TableRegistry, messages: OutboundMessagesRepository) {
    tables.register(...outboundMessageTables(messages));
  }
}

@Module({ imports: [OutboundMessagesModule], controllers: [NewConversationsController] })
export class NewConversationsApiModule {}
