import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { MessagesModule } from '../../messages/messages.module';
import { ChannelConnectionsModule } from '../connections/channel-connections.module';
import { ChannelCustomersModule } from '../customers/channel-customers.module';
import { InboundService } from './inbound.service';
import { ReceptionTimes } from './reception-times';
import { ProviderIdsModule } from '../provider-ids/provider-ids.module';

/** Stores customers' messages, which come from the providers' hooks and from the widget. */
@Module({
  imports: [
    ChannelConnectionsModule,
    ChannelCustomersModule,
    ContactsModule,
    ConversationsModule,
    MessagesModule,
    ProviderIdsModule,
  ],
  providers: [InboundService, ReceptionTimes],
  exports: [InboundService],
})
export class InboundModule {}
