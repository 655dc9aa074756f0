import { Module } from '@nestjs/common';
import { ContactsModule } from '../../contacts/contacts.module';
import { ConversationsModule } from '../../conversations/conversations.module';
import { MessagesModule } from '../../messages/messages.module';
import { RateLimitModule } from '../../rate-limit/rate-limit.module';
import { ChannelsModule } from '../channels.module';
import { HooksService } from './hooks.service';
import { InboundService } from './inbound.service';
import { InboundStore } from './inbound.store';
import {
  InstagramHookController,
  MessengerHookController,
  WhatsAppHookController,
} from './meta-hook.controller';
import { TelegramHookController } from './telegram-hook.controller';

/** Where the channels' providers call: outside the API, and without a key. */
@Module({
  imports: [ChannelsModule, ContactsModule, ConversationsModule, MessagesModule, RateLimitModule],
  controllers: [
    TelegramHookController,
    WhatsAppHookController,
    MessengerHookController,
    InstagramHookController,
  ],
  providers: [HooksService, InboundService, InboundStore],
})
export class HooksModule {}
