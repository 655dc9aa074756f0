import { Module } from '@nestjs/common';
import { MessagesModule } from '../../messages/messages.module';
import { QueueFloorsModule } from '../../queue-floors/queue-floors.module';
import { TableRegistry } from '../../stored-data/table-registry';
import { OutboundMessagesRepository } from './outbound-messages.repository';
import { outboundMessageTables } from './outbound-message-tables';

/** Gives access to the rows of outbound messages, without a queue that wakes their workers. */
@Module({
  imports: [MessagesModule, QueueFloorsModule],
  providers: [OutboundMessagesRepository],
  exports: [OutboundMessagesRepository],
})
export class OutboundMessagesModule {
  constructor(tables: TableRegistry, messages: OutboundMessagesRepository) {
    tables.register(...outboundMessageTables(messages));
  }
}
