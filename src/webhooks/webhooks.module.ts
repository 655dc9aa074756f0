import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { Config } from '../config/config';
import { DatabaseModule } from '../database/database.module';
import { OutboxModule } from '../outbox/outbox.module';
import { KeyRotationService } from '../secrets/key-rotation.service';
import { SecretsModule } from '../secrets/secrets.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AttemptRollupsRepository } from './rollups/attempt-rollups.repository';
import { AddressPolicy } from './sending/address-policy';
import { AttemptRecorder } from './deliveries/attempt-recorder';
import { DeliveryRequests } from './browsing/delivery-requests';
import { HistorySearchRepository } from './browsing/history-search.repository';
import { PendingSearchRepository } from './browsing/pending-search.repository';
import { DeliverySearch } from './browsing/delivery-search';
import { Redeliverer } from './browsing/redeliverer';
import { DeliveryHistoryRepository } from './deliveries/delivery-history.repository';
import { DeliverySignal } from './deliveries/delivery-signal';
import { FirstAttempts } from './browsing/first-attempts';
import { RecordedDeliveries } from './deliveries/recorded-deliveries';
import { PendingCancellationsRepository } from './endpoints/pending-cancellations.repository';
import { MissedDeliveries } from './recoveries/missed-deliveries';
import { DeliverySender } from './sending/delivery-sender';
import { DeliveryAttempter } from './deliveries/delivery-attempter';
import { PendingDeliveriesRepository } from './deliveries/pending-deliveries.repository';
import { EndpointRegistration } from './endpoints/endpoint-registration';
import { EndpointSubscription } from './endpoints/subscription';
import { EndpointUrlChecker } from './endpoints/endpoint-url.checker';
import { HostResolver } from './sending/host-resolver';
import { WebhookDeliveriesService } from './browsing/webhook-deliveries.service';
import { WebhookEndpointEntity } from './endpoints/webhook-endpoint.entity';
import { WebhookEndpointsRepository } from './endpoints/webhook-endpoints.repository';
import { WebhookEndpointsService } from './endpoints/webhook-endpoints.service';
import { MatchingDeliveries } from './recoveries/matching-deliveries';
import { RecoveryStarter } from './recoveries/recovery-starter';
import { RecoverySteps } from './recoveries/recovery-steps';
import { WebhookRedeliveriesService } from './recoveries/webhook-redeliveries.service';
import { WebhookRecoveriesRepository } from './recoveries/webhook-recoveries.repository';
import { WebhookRecoveriesService } from './recoveries/webhook-recoveries.service';
import { WebhookRecoveryEntity } from './recoveries/webhook-recovery.entity';
import { WebhookTestService } from './browsing/webhook-test.service';

/** The dashboard's side of webhooks, and single attempts. Nothing here uses a queue or a schedule. */
@Module({
  imports: [
    DatabaseModule.forEntities([WebhookEndpointEntity, WebhookRecoveryEntity]),
    WorkspacesModule,
    OutboxModule,
    AuditModule,
    SecretsModule,
  ],
  providers: [
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
      useFactory: ({ webhookExtraCa: extraCa }: Config, policy: AddressPolicy, resolver: HostResolver) =>
        new DeliverySender({ policy, extraCa, resolver }),
    },
    EndpointUrlChecker,
    EndpointRegistration,
    WebhookEndpointsRepository,
    WebhookEndpointsService,
    PendingCancellationsRepository,
    DeliveryHistoryRepository,
    FirstAttempts,
    RecordedDeliveries,
    DeliverySignal,
    AttemptRollupsRepository,
    PendingSearchRepository,
    HistorySearchRepository,
    DeliverySearch,
    DeliveryRequests,
    Redeliverer,
    WebhookDeliveriesService,
    MissedDeliveries,
    MatchingDeliveries,
    RecoverySteps,
    RecoveryStarter,
    WebhookRecoveriesRepository,
    WebhookRecoveriesService,
    WebhookRedeliveriesService,
    EndpointSubscription,
    WebhookTestService,
    PendingDeliveriesRepository,
    AttemptRecorder,
    DeliveryAttempter,
  ],
  exports: [
    AttemptRollupsRepository,
    WebhookEndpointsRepository,
    WebhookEndpointsService,
    PendingCancellationsRepository,
    DeliveryHistoryRepository,
    DeliverySignal,
    RecordedDeliveries,
    WebhookDeliveriesService,
    RecoverySteps,
    WebhookRecoveriesRepository,
    WebhookRecoveriesService,
    WebhookRedeliveriesService,
    EndpointSubscription,
    WebhookTestService,
    PendingDeliveriesRepository,
    DeliveryAttempter,
  ],
})
export class WebhooksModule {
  constructor(keyRotation: KeyRotationService) {
    keyRotation.register('webhook_endpoints');
    keyRotation.register('webhook_endpoints', 'previous_secret');
  }
}
