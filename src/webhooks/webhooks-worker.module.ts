import { Module } from '@nestjs/common';
import { OutboxModule } from '../outbox/outbox.module';
import { OutboxWorkerModule } from '../outbox/outbox-worker.module';
import { ThroughputLimiter } from '../redis/throughput-limiter';
import { registerQueue } from '../queue/register-queue';
import { WorkspacesModule } from '../workspaces/workspaces.module';
import { DeliveryClaimer } from './deliveries/delivery-claimer';
import { DeliveryWorker } from './deliveries/delivery.worker';
import { DeliveryProcessor } from './deliveries/delivery.processor';
import { DELIVERY_QUEUE, DeliveryQueue } from './deliveries/delivery-queue';
import { DeliveryPoll } from './deliveries/delivery-poll';
import { PendingCanceller } from './deliveries/pending-canceller';
import { DeliveryFanOut } from './deliveries/delivery-fan-out';
import { EndpointHealth } from './deliveries/endpoint-health';
import { AttemptRollups } from './rollups/attempt-rollups';
import { RecoveryRunner } from './recoveries/recovery-runner';
import { WebhooksConsumer } from './deliveries/webhooks.consumer';
import { WebhooksModule } from './webhooks.module';

/** The worker's side of webhooks: from events to deliveries, from deliveries to attempts. */
@Module({
  imports: [
    registerQueue(DELIVERY_QUEUE),
    WebhooksModule,
    OutboxModule,
    OutboxWorkerModule,
    WorkspacesModule,
  ],
  providers: [
    DeliveryClaimer,
    DeliveryWorker,
    DeliveryQueue,
    DeliveryProcessor,
    DeliveryPoll,
    PendingCanceller,
    EndpointHealth,
    AttemptRollups,
    DeliveryFanOut,
    ThroughputLimiter,
    RecoveryRunner,
    WebhooksConsumer,
  ],
})
export class WebhooksWorkerModule {}
