import { Module, Type } from '@nestjs/common';
import { AttachmentsRepository } from '../attachments/attachments.repository';
import { AlertsModule } from '../alerts/alerts.module';
import { AttachmentsModule } from '../attachments/attachments.module';
import { AuditModule } from '../audit/audit.module';
import { ContactsModule } from '../contacts/contacts.module';
import { ConversationsModule } from '../conversations/conversations.module';
import { TableRegistry } from '../database/tables/table-registry';
import { RateLimitModule } from '../http/limits/rate-limit.module';
import { IdempotencyModule } from '../idempotency/idempotency.module';
import { MessagesModule } from '../messages/messages.module';
import { OutboxModule } from '../outbox/outbox.module';
import { RunningClaimsModule } from '../queue/claims/running-claims';
import { QueueFloorsModule } from '../queue/floors/queue-floors.module';
import { SecretsModule } from '../secrets/secrets.module';
import { ChannelAdapter } from './adapters/channel-adapter';
import { ChannelAdapters } from './adapters/channel-adapters';
import { FileFetcher } from './adapters/file-fetcher';
import { GraphApi } from './adapters/meta/graph-api';
import { InstagramAdapter } from './adapters/meta/instagram-adapter';
import { MessengerAdapter } from './adapters/meta/messenger-adapter';
import { WhatsAppAdapter } from './adapters/meta/whatsapp-adapter';
import { ProviderHttp } from './adapters/provider-http';
import { TelegramAdapter } from './adapters/telegram/telegram-adapter';
import { WidgetAdapter } from './adapters/widget/widget-adapter';
import { WidgetSignal } from './adapters/widget/widget-signal';
import { ChannelConnectionsRepository } from './connections/channel-connections.repository';
import { ChannelConnectionsService } from './connections/channel-connections.service';
import { ConnectionChanges } from './connections/connection-changes';
import { ConnectionLoader } from './connections/connection-loader';
import { ConnectionRegistration } from './connections/connection-registration';
import { ConnectionAlerts } from './connections/connection-alerts';
import { ReplyFailuresRepository } from './connections/reply-failures.repository';
import { PreviewTokens } from './connections/preview-tokens';
import { ChannelCustomersService } from './customers/channel-customers.service';
import { CustomerChangesService } from './customers/customer-changes.service';
import { NamedRecipients } from './customers/named-recipients';
import { AttachmentFetchesRepository } from './fetches/attachment-fetches.repository';
import { fetchTables } from './fetches/fetch-tables';
import { AttachmentRetriesController } from './fetches/attachment-retries.controller';
import { AttachmentRetriesService } from './fetches/attachment-retries.service';
import { NewConversationsController } from './outbound/new-conversations.controller';
import { NewConversationsService } from './outbound/new-conversations.service';
import { OutboundMessagesRepository } from './outbound/outbound-messages.repository';
import { FileLinks } from './outbound/parts/file-links';
import { MessagePartsRepository } from './outbound/parts/message-parts.repository';
import { PartReceipts } from './outbound/parts/part-receipts';
import { PartSettler } from './outbound/parts/part-settler';
import { ProviderFilesRepository } from './outbound/parts/provider-files.repository';
import { ReplyChecksRepository } from './outbound/reply-checks.repository';
import { ReplyChecksService } from './outbound/reply-checks.service';
import { EarlyChangesRepository } from './provider-ids/early-changes.repository';
import { channelTables } from './channel-tables';
import { partTables } from './outbound/parts/part-tables';
import { ProviderIdsRepository } from './provider-ids/provider-ids.repository';

const ADAPTERS: Type<ChannelAdapter>[] = [
  WidgetAdapter,
  WhatsAppAdapter,
  TelegramAdapter,
  MessengerAdapter,
  InstagramAdapter,
];

const SERVICES = [
  ProviderHttp,
  FileFetcher,
  GraphApi,
  WidgetSignal,
  ...ADAPTERS,
  {
    provide: ChannelAdapters,
    inject: ADAPTERS,
    useFactory: (...adapters: ChannelAdapter[]) => new ChannelAdapters(adapters),
  },
  ConnectionRegistration,
  ConnectionChanges,
  ConnectionLoader,
  ReplyFailuresRepository,
  ConnectionAlerts,
  ChannelConnectionsRepository,
  ChannelConnectionsService,
  PreviewTokens,
  ProviderIdsRepository,
  EarlyChangesRepository,
  ChannelCustomersService,
  CustomerChangesService,
  NamedRecipients,
  OutboundMessagesRepository,
  FileLinks,
  MessagePartsRepository,
  PartReceipts,
  PartSettler,
  ProviderFilesRepository,
  ReplyChecksRepository,
  ReplyChecksService,
  NewConversationsService,
  AttachmentFetchesRepository,
  AttachmentRetriesService,
];

/** Provides the services of channels, without the queue that wakes the workers which send messages. */
@Module({
  imports: [
    AlertsModule,
    AttachmentsModule,
    AuditModule,
    ContactsModule,
    ConversationsModule,
    IdempotencyModule,
    MessagesModule,
    OutboxModule,
    QueueFloorsModule,
    RateLimitModule,
    RunningClaimsModule,
    SecretsModule,
  ],
  providers: SERVICES,
  exports: SERVICES,
})
export class ChannelsModule {
  constructor(
    tables: TableRegistry,
    messages: OutboundMessagesRepository,
    providerIds: ProviderIdsRepository,
    earlyChanges: EarlyChangesRepository,
    parts: MessagePartsRepository,
    providerFiles: ProviderFilesRepository,
    fetches: AttachmentFetchesRepository,
    attachments: AttachmentsRepository,
  ) {
    tables.register(
      ...channelTables(messages, providerIds, earlyChanges),
      ...partTables(parts, providerFiles),
      ...fetchTables(fetches, attachments),
    );
  }
}

@Module({
  imports: [ChannelsModule],
  controllers: [NewConversationsController, AttachmentRetriesController],
})
export class NewConversationsApiModule {}
