import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { OutboxModule } from '../../outbox/outbox.module';
import { ChannelCustomersService } from './channel-customers.service';
import { NamedRecipients } from './named-recipients';

@Module({
  imports: [ContactsModule, ConversationsModule, OutboxModule],
  providers: [ChannelCustomersService, NamedRecipients],
  exports: [ChannelCustomersService, NamedRecipients],
})
export class ChannelCustomersModule {}
