import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { MessagesModule } from '../../messages/messages.module';
import { InboundService } from './inbound.service';
import { InboundStore } from './inbound.store';

/** What takes in customers' messages, whichever way they come. */
@Module({
  imports: [ContactsModule, ConversationsModule, MessagesModule],
  providers: [InboundService, InboundStore],
  exports: [InboundService],
})
export class InboundModule {}
