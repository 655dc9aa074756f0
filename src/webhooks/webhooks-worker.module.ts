import { FactoryProvider, Logger, Module } from '@nestjs/common';
import { AlertsModule } from '../alerts/alerts.module';
import { AuditModule } from '../audit/audit.module';
import { Config } from '../config/config';
import { DatabaseClock } from '../database/database-clock';
import { OutboxWorkerModule } from '../outbox/outbox.module';
import { cappedAt } from '../queue/slot-pool';
import { StartCapacity, startCapacityOf } from '../queue/start-capacity';
import { provideTargetRates } from '../queue/target-rates';
import { WakeUpsModule } from '../queue/wake-ups';
import { DELIVERY_QUEUE } from './deliveries/delivery';
import { DeliveryClaimer } from './deliveries/delivery-claimer';
import { DeliveryFanOut } from './deliveries/delivery-fan-out';
import { DeliveryPoll } from './deliveries/delivery-poll';
import { DeliveryWorker } from './deliveries/delivery.worker';
import { EndpointAlerts } from './deliveries/endpoint-alerts';
import { EndpointHealth } from './deliveries/endpoint-health';
import { PendingCanceller } from './deliveries/pending-canceller';
import { WebhooksConsumer } from './deliveries/webhooks.consumer';
import { AutomaticReports } from './recoveries/automatic-reports';
import { AutomaticRounds } from './recoveries/automatic-rounds';
import { AutomaticRunner } from './recoveries/automatic-runner';
import { AutomaticDeliveries } from './deliveries/automatic-deliveries';
import { AutomaticSteps } from './recoveries/automatic-steps';
import { RecoveryMaker } from './recoveries/recovery-maker';
import { RecoveryRunner } from './recoveries/recovery-runner';
import { RecoveryTally } from './recoveries/recovery-tally';
import { AttemptRollups } from './rollups/attempt-rollups';
import { connectionBudget } from './sending/connection-budget';
import { WebhooksModule } from './webhooks.module';

/** Slots of an endpoint whose last attempt did not succeed. Receivers of usual size can serve so many. */
const SLOTS_AT_FIRST = 10;

const deliveryCapacity: FactoryProvider<StartCapacity> = {
  provide: startCapacityOf(DELIVERY_QUEUE),
  inject: [Config, DatabaseClock],
  useFactory: (config: Config, clock: DatabaseClock) => {
    const { webhookConcurrency: total, webhookSlowConcurrency: slow } = config;
    const most = cappedAt(total) + cappedAt(slow);
    const share = Math.min(1, connectionBudget(config).attempts / most);
    const mostPerTarget = config.webhookEndpointConcurrency;
    const limits = {
      total: Math.ceil(total * share),
      slow: Math.ceil(slow * share),
      perTarget: Math.min(SLOTS_AT_FIRST, mostPerTarget),
      mostPerTarget,
    };
    if (share < 1)
      new Logger(StartCapacity.name).warn(limits, 'fewer attempts at once: few files may be open');
    return new StartCapacity({ ...limits, startSlow: true }, clock);
  },
};

/** Does the work of workers for webhooks: makes deliveries of events, attempts them, runs recoveries. */
@Module({
  imports: [AlertsModule, AuditModule, OutboxWorkerModule, WakeUpsModule, WebhooksModule],
  providers: [
    WebhooksConsumer,
    DeliveryFanOut,
    deliveryCapacity,
    provideTargetRates(DELIVERY_QUEUE),
    DeliveryWorker,
    DeliveryClaimer,
    DeliveryPoll,
    PendingCanceller,
    EndpointHealth,
    EndpointAlerts,
    AttemptRollups,
    RecoveryRunner,
    RecoveryMaker,
    RecoveryTally,
    AutomaticReports,
    AutomaticRounds,
    AutomaticRunner,
    AutomaticDeliveries,
    AutomaticSteps,
  ],
})
export class WebhooksWorkerModule {}
