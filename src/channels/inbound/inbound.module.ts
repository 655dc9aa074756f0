import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { MessagesModule } from '../../messages/messages.module';
import { SecretsModule } from '../../secrets/secrets.module';
import { InboundService } from './inbound.service';
import { ProviderMessagesRepository } from './provider-messages.repository';

/** Stores customers' messages from hooks and from the widget. */
@Module({
  imports: [ContactsModule, ConversationsModule, MessagesModule, SecretsModule],
  providers: [InboundService, ProviderMessagesRepository],
  exports: [InboundService],
})
export class InboundModule {}
