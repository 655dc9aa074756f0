import { BullModule } from '@nestjs/bull';
import { Module } from '@nestjs/common';
import { Config } from '../config/config';
import { OutboxModule } from '../outbox/outbox.module';
import { ThroughputLimiter } from '../redis/throughput-limiter';
import { queueOptions } from '../queue/queue.options';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { AttemptFollowUp } from './deliveries/attempt.follow-up';
import { DeliveryClaimer } from './deliveries/delivery.claimer';
import { DeliveryWorker } from './deliveries/delivery.worker';
import { DeliveryProcessor } from './deliveries/delivery.processor';
import { DELIVERY_QUEUE, DeliveryQueue } from './deliveries/delivery.queue';
import { DeliverySweeper } from './deliveries/delivery.sweeper';
import { DeliveryFanOut } from './deliveries/delivery-fan-out';
import { EndpointHealth } from './deliveries/endpoint-health';
import { EndpointRateLimiter } from './deliveries/endpoint-rate-limiter';
import { RecoveryRunner } from './recoveries/recovery.runner';
import { WebhooksConsumer } from './webhooks.consumer';
import { WebhooksModule } from './webhooks.module';

/** The worker's side of webhooks: from events to deliveries, from deliveries to attempts. */
@Module({
  imports: [
    BullModule.registerQueueAsync({ name: DELIVERY_QUEUE, inject: [Config], useFactory: queueOptions }),
    WebhooksModule,
    OutboxModule,
    WorkspacesModule,
  ],
  providers: [
    AttemptFollowUp,
    DeliveryClaimer,
    DeliveryWorker,
    DeliveryQueue,
    DeliveryProcessor,
    DeliverySweeper,
    EndpointHealth,
    EndpointRateLimiter,
    DeliveryFanOut,
    ThroughputLimiter,
    RecoveryRunner,
    WebhooksConsumer,
  ],
})
export class DeliveryModule {}
