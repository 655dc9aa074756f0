import { Module, Type } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { DatabaseModule } from '../database/database.module';
import { KeyRotationService } from '../secrets/key-rotation.service';
import { SecretsModule } from '../secrets/secrets.module';
import { ChannelAdapter } from './adapters/channel-adapter';
import { ChannelAdapters } from './adapters/channel-adapters';
import { GraphApi } from './adapters/graph-api';
import { InstagramAdapter } from './adapters/instagram.adapter';
import { MessengerAdapter } from './adapters/messenger.adapter';
import { ProviderHttp } from './adapters/provider-http';
import { TelegramAdapter } from './adapters/telegram.adapter';
import { WhatsAppAdapter } from './adapters/whatsapp.adapter';
import { WidgetAdapter } from './adapters/widget.adapter';
import { ChannelConnectionEntity } from './connections/channel-connection.entity';
import { ChannelConnectionsRepository } from './connections/channel-connections.repository';
import { ChannelConnectionsService } from './connections/channel-connections.service';
import { ConnectionRegistration } from './connections/connection-registration';
import { ConnectionLoader } from './connections/connection.loader';
import { WidgetSignal } from './widget/widget.signal';

/** One for each channel. */
const ADAPTERS: Type<ChannelAdapter>[] = [
  WidgetAdapter,
  WhatsAppAdapter,
  TelegramAdapter,
  MessengerAdapter,
  InstagramAdapter,
];

/** Channel connections as the dashboard manages them, and what it takes to reach a provider. No queue, no route. */
@Module({
  imports: [DatabaseModule.forEntities([ChannelConnectionEntity]), AuditModule, SecretsModule],
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
    ConnectionRegistration,
    ConnectionLoader,
    ChannelConnectionsRepository,
    ChannelConnectionsService,
  ],
  exports: [
    ChannelAdapters,
    InstagramAdapter,
    ConnectionLoader,
    ChannelConnectionsRepository,
    ChannelConnectionsService,
    WidgetSignal,
  ],
})
export class ChannelsModule {
  constructor(keyRotation: KeyRotationService) {
    keyRotation.register('channel_connections', 'credentials');
  }
}
