import { Module } from '@nestjs/common';
import { AccessModule } from '../access/access.module';
import { AlertsModule } from '../alerts/alerts.module';
import { AttachmentsModule } from '../attachments/attachments.module';
import { AuditModule } from '../audit/audit.module';
import { Config } from '../config/config';
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
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { WebhookEndpointsController } from './api/webhook-endpoints.controller';
import { DeliverySearch } from './browsing/delivery-search';
import { DeliveryContents } from './browsing/delivery-contents';
import { DeliverySearchRepository } from './browsing/delivery-search.repository';
import { FirstAttempts } from './browsing/first-attempts';
import { Redeliverer } from './deliveries/redeliverer';
import { WebhookDeliveriesService } from './browsing/webhook-deliveries.service';
import { TestDeliveries } from './testing/test-deliveries';
import { WebhookTestService } from './testing/webhook-test.service';
import { ContextReader } from './context/context-reader';
import { AttemptRecorder } from './deliveries/attempt-recorder';
import { DeliveryAttempter } from './deliveries/delivery-attempter';
import { DeliveryHistoryRepository } from './deliveries/delivery-history.repository';
import { DeliveryRoundsRepository } from './deliveries/delivery-rounds.repository';
import { DueDeliveriesRepository } from './deliveries/due-deliveries.repository';
import { PendingCancellationsRepository } from './deliveries/pending-cancellations.repository';
import { PendingDeliveriesRepository } from './deliveries/pending-deliveries.repository';
import { RecoveryOutcomesRepository } from './deliveries/recovery-outcomes.repository';
import { EndpointChanges } from './endpoints/endpoint-changes';
import { EndpointHealthRepository } from './endpoints/endpoint-health.repository';
import { EndpointRegistration } from './endpoints/endpoint-registration';
import { EndpointsOfKeys } from './endpoints/endpoints-of-keys';
import { SubscribersRepository } from './endpoints/subscribers.repository';
import { EndpointSubscription } from './endpoints/subscription';
import { WebhookEndpointsRepository } from './endpoints/webhook-endpoints.repository';
import { WebhookEndpointsService } from './endpoints/webhook-endpoints.service';
import { AutomaticRecoveriesRepository } from './endpoints/automatic-recoveries.repository';
import { AutomaticEnds } from './recoveries/automatic-ends';
import { AutomaticRecoveriesService } from './recoveries/automatic-recoveries.service';
import { RecoverySource } from './recoveries/recovery-source';
import { WebhookRecoveriesRepository } from './recoveries/webhook-recoveries.repository';
import { WebhookRecoveriesService } from './recoveries/webhook-recoveries.service';
import { AttemptRollupsRepository } from './rollups/attempt-rollups.repository';
import { DeliveryCountsRepository } from './rollups/delivery-counts.repository';
import { EndpointStatisticsService } from './rollups/endpoint-statistics.service';
import { WebhookDayRepository } from './rollups/webhook-day.repository';
import { AddressPolicy } from '../outgoing/address-policy';
import { connectionBudget } from './sending/connection-budget';
import { DeliverySender } from './sending/delivery-sender';
import { HostResolver } from '../outgoing/host-resolver';
import { webhookTables } from './webhook-tables';

const SENDING = [
  {
    provide: AddressPolicy,
    inject: [Config],
    useFactory: ({ webhookAllowedNetworks, webhookDeniedNetworks }: Config) =>
      new AddressPolicy(webhookAllowedNetworks, webhookDeniedNetworks),
  },
  {
    provide: HostResolver,
    inject: [Config],
    useFactory: ({ webhookDnsServers }: Config) =>
      new HostResolver({ servers: webhookDnsServers.length > 0 ? webhookDnsServers : undefined }),
  },
  {
    provide: DeliverySender,
    inject: [Config, AddressPolicy, HostResolver],
    useFactory: (config: Config, policy: AddressPolicy, resolver: HostResolver) =>
      new DeliverySender({
        policy,
        extraCa: config.webhookExtraCa,
        resolver,
        maxKept: connectionBudget(config).kept,
      }),
  },
];

const PROVIDERS = [
  ...SENDING,
  ContextReader,
  WebhookEndpointsService,
  EndpointRegistration,
  EndpointChanges,
  EndpointSubscription,
  EndpointsOfKeys,
  WebhookEndpointsRepository,
  SubscribersRepository,
  EndpointHealthRepository,
  PendingCancellationsRepository,
  PendingDeliveriesRepository,
  DeliveryRoundsRepository,
  DueDeliveriesRepository,
  DeliveryHistoryRepository,
  RecoveryOutcomesRepository,
  DeliveryAttempter,
  AttemptRecorder,
  EndpointStatisticsService,
  AttemptRollupsRepository,
  DeliveryCountsRepository,
  WebhookDayRepository,
  WebhookDeliveriesService,
  WebhookTestService,
  TestDeliveries,
  DeliverySearch,
  DeliveryContents,
  FirstAttempts,
  DeliverySearchRepository,
  Redeliverer,
  WebhookRecoveriesService,
  RecoverySource,
  WebhookRecoveriesRepository,
  AutomaticRecoveriesRepository,
  AutomaticRecoveriesService,
  AutomaticEnds,
];

/**
 * Provides endpoints, tests, lists of deliveries, recoveries and statistics. It uses no queue and no
 * schedule, so every process may import it.
 */
@Module({
  imports: [
    AlertsModule,
    AccessModule,
    AttachmentsModule,
    AuditModule,
    IdempotencyModule,
    RateLimitModule,
    SecretsModule,
    OutboxModule,
    QueueFloorsModule,
    RunningClaimsModule,
    WorkspacesModule,
    ContactsModule,
    ConversationsModule,
    MessagesModule,
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class WebhooksModule {
  constructor(
    tables: TableRegistry,
    due: DueDeliveriesRepository,
    history: DeliveryHistoryRepository,
    outcomes: RecoveryOutcomesRepository,
    recoveries: WebhookRecoveriesRepository,
  ) {
    tables.register(...webhookTables({ due, history, outcomes, recoveries }));
  }
}

@Module({ imports: [WebhooksModule, RateLimitModule], controllers: [WebhookEndpointsController] })
export class WebhookEndpointsApiModule {}
