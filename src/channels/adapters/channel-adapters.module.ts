import { Module, Type } from '@nestjs/common';
import { ChannelAdapter } from './channel-adapter';
import { ChannelAdapters } from './channel-adapters';
import { GraphApi } from './graph-api';
import { InstagramAdapter } from './instagram.adapter';
import { MessengerAdapter } from './messenger.adapter';
import { ProviderHttp } from './provider-http';
import { TelegramAdapter } from './telegram.adapter';
import { WhatsAppAdapter } from './whatsapp.adapter';
import { WidgetAdapter } from './widget.adapter';
import { WidgetSignal } from './widget.signal';

/** One for each channel. */
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
