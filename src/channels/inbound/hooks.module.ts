import { Module } from '@nestjs/common';
import { RateLimitModule } from '../../rate-limit/rate-limit.module';
import { ChannelsModule } from '../channels.module';
import { ReceiptsModule } from '../receipts/receipts.module';
import { HooksService } from './hooks.service';
import { InboundModule } from './inbound.module';
import {
  InstagramHookController,
  MessengerHookController,
  WhatsAppHookController,
} from './meta-hook.controller';
import { TelegramHookController } from './telegram-hook.controller';

/** Where the channels' providers call: outside the API, and without a key. */
@Module({
  imports: [ChannelsModule, InboundModule, ReceiptsModule, RateLimitModule],
  controllers: [
    TelegramHookController,
    WhatsAppHookController,
    MessengerHookController,
    InstagramHookController,
  ],
  providers: [HooksService],
})
export class HooksModule {}
