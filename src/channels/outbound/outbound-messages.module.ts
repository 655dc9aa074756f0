import { Module } from '@nestjs/common';
import { MessagesModule } from '../../messages/messages.module';
import { QueueFloorsModule } from '../../queue-floors/queue-floors.module';
import { TableRegistry } from '../../stored-data/table-registry';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { outboundMessageTables } from './outbound-message-tables';
import { ReplyChecksRepository } from './reply-checks.repository';
import { ReplyChecksService } from './reply-checks.service';

/**
 * Gives access to the rows of outbound messages, without a queue that wakes their workers, and checks what
 * would become of one.
 */
@Module({
  imports: [MessagesModule, QueueFloorsModule],
  providers: [OutboundMessagesRepository, ReplyChecksRepository, ReplyChecksService],
  exports: [OutboundMessagesRepository, ReplyChecksService],
})
export class OutboundMessagesModule {
  constructor(tables: TableRegistry, messages: OutboundMessagesRepository) {
    tables.register(...outboundMessageTables(messages));
  }
}
