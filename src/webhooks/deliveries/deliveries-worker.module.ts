import { FactoryProvider, Logger, Module } from '@nestjs/common';
import { Config } from '../../config/config';
import { DatabaseClock } from '../../database/database-clock';
import { OutboxModule } from '../../outbox/outbox.module';
import { OutboxWorkerModule } from '../../outbox/outbox-worker.module';
import { registerQueue } from '../../queue/register-queue';
import { StartCapacity, startCapacityOf } from '../../queue/start-capacity';
import { provideWakeUps, wakeUpsOf } from '../../queue/wake-up-queue';
import { WorkspacesModule } from '../../workspaces/workspaces.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { cappedAt } from '../../queue/slots';
import { connectionBudget } from '../sending/connection-budget';
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
  useFactory: (config: Config, clock: DatabaseClock) => {
    const { webhookConcurrency: total, webhookSlowConcurrency: slow } = config;
    const most = cappedAt(total) + cappedAt(slow);
    const share = Math.min(1, connectionBudget(config).attempts / most);
    const perTarget = config.webhookEndpointConcurrency;
    const limits = { total: Math.ceil(total * share), slow: Math.ceil(slow * share), perTarget };
    if (share < 1)
      new Logger(StartCapacity.name).warn(limits, 'fewer attempts at once: few files may be open');
    return new StartCapacity({ ...limits, startSlow: true }, clock);
  },
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
  ],
  exports: [wakeUpsOf(DELIVERY_QUEUE)],
})
export class DeliveriesWorkerModule {}
