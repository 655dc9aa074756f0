import { Module, Type } from '@nestjs/common';
import { ChannelAdapter } from './channel-adapter';
import { ChannelAdapters } from './channel-adapters';
import { GraphApi } from './meta/graph-api';
import { InstagramAdapter } from './meta/instagram-adapter';
import { MessengerAdapter } from './meta/messenger-adapter';
import { ProviderHttp } from './support/provider-http';
import { TelegramAdapter } from './telegram-adapter';
import { WhatsAppAdapter } from './meta/whatsapp-adapter';
import { WidgetAdapter } from './widget-adapter';
import { WidgetSignal } from './widget-signal';

const ADAPTERS: Type<ChannelAdapter>[] = [
  WidgetAdapter,
  WhatsAppAdapter,
  TelegramAdapter,
  MessengerAdapter,
  InstagramAdapter,
];

@Module({
  providers: [
    ProviderHttp,
    WidgetSignal,
    GraphApi,
    ...ADAPTERS,
    {
      provide: ChannelAdapters,
      inject: ADAPTERS,
      useFactory: (...adapters: ChannelAdapter[]) => new ChannelAdapters(adapters),
    },
  ],
  exports: [ChannelAdapters, InstagramAdapter, WidgetSignal],
})
export class ChannelAdaptersModule {}
