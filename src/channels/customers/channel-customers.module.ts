import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { MessagesModule } from '../../messages/messages.module';
import { ProviderIdsModule } from '../provider-ids/provider-ids.module';
import { CustomerChangesService } from './customer-changes.service';
import { ChannelCustomersService } from './channel-customers.service';
import { NamedRecipients } from './named-recipients';

@Module({
  imports: [ContactsModule, ConversationsModule, MessagesModule, OutboxModule, ProviderIdsModule],
  providers: [ChannelCustomersService, CustomerChangesService, NamedRecipients],
  exports: [ChannelCustomersService, CustomerChangesService, NamedRecipients],
})
export class ChannelCustomersModule {}
