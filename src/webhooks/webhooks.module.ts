import { Module } from '@nestjs/common';
import { AuditModule } from '../audit/audit.module';
import { SecretBox } from '../common/secret-box';
import { Config } from '../config/config';
import { DatabaseModule } from '../database/database.module';
import { OutboxModule } from '../outbox/outbox.module';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AddressPolicy } from './address-policy';
import { AttemptRecorder } from './attempt.recorder';
import { DeliverySender } from './delivery-sender';
import { DeliveryAttempter } from './delivery.attempter';
import { DeliveryStore } from './delivery.store';
import { EndpointSubscription } from './endpoint-subscription';
import { EndpointUrlChecker } from './endpoint-url.checker';
import { HostResolver } from './host-resolver';
import { WebhookAttemptEntity } from './webhook-attempt.entity';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository';
import { WebhookDeliveriesService } from './webhook-deliveries.service';
import { WebhookDeliveryEntity } from './webhook-delivery.entity';
import { WebhookEndpointEntity } from './webhook-endpoint.entity';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository';
import { WebhookEndpointsService } from './webhook-endpoints.service';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';
import { WebhookRecoveriesService } from './webhook-recoveries.service';
import { WebhookRecoveryEntity } from './webhook-recovery.entity';
import { WebhookTestService } from './webhook-test.service';

/** Webhook endpoints as the dashboard manages them, and what it takes to make one attempt. No queue, no schedule. */
@Module({
  imports: [
    DatabaseModule.forEntities([
      WebhookEndpointEntity,
      WebhookDeliveryEntity,
      WebhookAttemptEntity,
      WebhookRecoveryEntity,
    ]),
    WorkspacesModule,
    OutboxModule,
    AuditModule,
  ],
  providers: [
    {
      provide: SecretBox,
      inject: [Config],
      useFactory: (config: Config) => new SecretBox(config.secretsKeys),
    },
    {
      provide: AddressPolicy,
      inject: [Config],
      useFactory: (config: Config) => new AddressPolicy(config.webhookAllowedNetworks),
    },
    {
      provide: HostResolver,
      inject: [Config],
      useFactory: ({ webhookDnsServers }: Config) =>
        new HostResolver({ servers: webhookDnsServers.length > 0 ? webhookDnsServers : undefined }),
    },
    {
      provide: DeliverySender,
      inject: [Config, HostResolver],
      useFactory: (config: Config, resolver: HostResolver) =>
        new DeliverySender({
          allowedNetworks: config.webhookAllowedNetworks,
          extraCa: config.webhookExtraCa,
          resolver,
        }),
    },
    EndpointUrlChecker,
    WebhookEndpointsRepository,
    WebhookEndpointsService,
    WebhookDeliveriesRepository,
    WebhookDeliveriesService,
    WebhookRecoveriesRepository,
    WebhookRecoveriesService,
    EndpointSubscription,
    WebhookTestService,
    DeliveryStore,
    AttemptRecorder,
    DeliveryAttempter,
  ],
  exports: [
    WebhookEndpointsRepository,
    WebhookEndpointsService,
    WebhookDeliveriesRepository,
    WebhookDeliveriesService,
    WebhookRecoveriesRepository,
    WebhookRecoveriesService,
    EndpointSubscription,
    WebhookTestService,
    DeliveryStore,
    DeliveryAttempter,
  ],
})
export class WebhooksModule {}
