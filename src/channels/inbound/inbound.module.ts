import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { MessagesModule } from '../../messages/messages.module';
import { InboundService } from './inbound.service';
import { ProviderMessagesRepository } from './provider-messages.repository';

/** What takes in customers' messages, whichever way they come. */
@Module({
  imports: [ContactsModule, ConversationsModule, MessagesModule],
  providers: [InboundService, ProviderMessagesRepository],
  exports: [InboundService],
})
export class InboundModule {}
