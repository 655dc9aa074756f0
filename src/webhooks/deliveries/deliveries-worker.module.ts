import { Module } from '@nestjs/common';
import { OutboxModule } from '../../outbox/outbox.module';
import { OutboxWorkerModule } from '../../outbox/outbox-worker.module';
import { registerQueue } from '../../queue/register-queue';
import { ThroughputLimiter } from '../../redis/throughput-limiter';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { AttemptRollups } from '../rollups/attempt-rollups';
import { RollupsModule } from '../rollups/rollups.module';
import { DeliveriesModule } from './deliveries.module';
import { DeliveryClaimer } from './delivery-claimer';
import { DeliveryFanOut } from './delivery-fan-out';
import { DeliveryPoll } from './delivery-poll';
import { DeliveryProcessor } from './delivery.processor';
import { DELIVERY_QUEUE, DeliveryQueue } from './delivery-queue';
import { DeliveryWorker } from './delivery.worker';
import { EndpointHealth } from './endpoint-health';
import { PendingCanceller } from './pending-canceller';
import { WebhooksConsumer } from './webhooks.consumer';

/** Turns events into deliveries, and deliveries into attempts, in workers. */
@Module({
  imports: [
    registerQueue(DELIVERY_QUEUE),
    OutboxModule,
    OutboxWorkerModule,
    WorkspacesModule,
    EndpointsModule,
    RollupsModule,
    DeliveriesModule,
  ],
  providers: [
    WebhooksConsumer,
    DeliveryFanOut,
    DeliveryQueue,
    DeliveryProcessor,
    DeliveryWorker,
    DeliveryClaimer,
    DeliveryPoll,
    PendingCanceller,
    EndpointHealth,
    AttemptRollups,
    ThroughputLimiter,
  ],
  exports: [DeliveryQueue],
})
export class DeliveriesWorkerModule {}
