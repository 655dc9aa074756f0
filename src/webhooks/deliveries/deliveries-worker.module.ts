import { FactoryProvider, Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { DatabaseClock } from '../../database/database-clock';
import { OutboxModule } from '../../outbox/outbox.module';
import { OutboxWorkerModule } from '../../outbox/outbox-worker.module';
import { registerQueue } from '../../queue/register-queue';
import { StartCapacity, startCapacityOf } from '../../queue/start-capacity';
import { provideWakeUps, wakeUpsOf } from '../../queue/wake-up-queue';
import { ThroughputLimiter } from '../../redis/throughput-limiter';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { AttemptRollups } from '../rollups/attempt-rollups';
import { RollupsModule } from '../rollups/rollups.module';
import { DeliveriesModule } from './deliveries.module';
import { DELIVERY_QUEUE } from './delivery';
import { DeliveryClaimer } from './delivery-claimer';
import { DeliveryFanOut } from './delivery-fan-out';
import { DeliveryPoll } from './delivery-poll';
import { DeliveryProcessor } from './delivery.processor';
import { DeliveryWorker } from './delivery.worker';
import { EndpointHealth } from './endpoint-health';
import { PendingCanceller } from './pending-canceller';
import { WebhooksConsumer } from './webhooks.consumer';

const deliveryCapacity: FactoryProvider<StartCapacity> = {
  provide: startCapacityOf(DELIVERY_QUEUE),
  inject: [Config, DatabaseClock],
  useFactory: (config: Config, clock: DatabaseClock) =>
    new StartCapacity(
      {
        total: config.webhookConcurrency,
        perTarget: config.webhookEndpointConcurrency,
        slow: config.webhookSlowConcurrency,
        startSlow: true,
      },
      clock,
    ),
};

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
    deliveryCapacity,
    provideWakeUps(DELIVERY_QUEUE),
    DeliveryProcessor,
    DeliveryWorker,
    DeliveryClaimer,
    DeliveryPoll,
    PendingCanceller,
    EndpointHealth,
    AttemptRollups,
    ThroughputLimiter,
  ],
  exports: [wakeUpsOf(DELIVERY_QUEUE)],
})
export class DeliveriesWorkerModule {}
