import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { MessagesModule } from '../../messages/messages.module';
import { InboundService } from './inbound.service';
import { ProviderIdsModule } from '../provider-ids/provider-ids.module';

/** Stores customers' messages, which come from the providers' hooks and from the widget. */
@Module({
  imports: [ContactsModule, ConversationsModule, MessagesModule, ProviderIdsModule],
  providers: [InboundService],
  exports: [InboundService],
})
export class InboundModule {}
