import { Module } from '@nestjs/common';
import { OutboxModule } from '../../outbox/outbox.module';
import { QueueFloorsModule } from '../../queue/floors/queue-floors.module';
import { TableRegistry } from '../../database/tables/table-registry';
import { ContextModule } from '../context/context.module';
import { EndpointsModule } from '../endpoints/endpoints.module';
import { SendingModule } from '../sending/sending.module';
import { AttemptRecorder } from './attempt-recorder';
import { DeliveryAttempter } from './delivery-attempter';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { deliveryTables } from './delivery-tables';
import { DueDeliveriesRepository } from './due-deliveries.repository';
import { PendingDeliveriesRepository } from './pending-deliveries.repository';
import { RecordedDeliveries } from './recorded-deliveries';
import { RecoveryOutcomesRepository } from './recovery-outcomes.repository';

/**
 * Stores deliveries and makes single attempts. It uses no queue and no schedule, so every process may have
 * it.
 */
@Module({
  imports: [OutboxModule, QueueFloorsModule, ContextModule, EndpointsModule, SendingModule],
  providers: [
    PendingDeliveriesRepository,
    DueDeliveriesRepository,
    DeliveryHistoryRepository,
    RecoveryOutcomesRepository,
    RecordedDeliveries,
    DeliveryAttempter,
    AttemptRecorder,
  ],
  exports: [
    PendingDeliveriesRepository,
    DueDeliveriesRepository,
    DeliveryHistoryRepository,
    RecoveryOutcomesRepository,
    RecordedDeliveries,
    DeliveryAttempter,
    AttemptRecorder,
  ],
})
export class DeliveriesModule {
  constructor(
    tables: TableRegistry,
    due: DueDeliveriesRepository,
    history: DeliveryHistoryRepository,
    outcomes: RecoveryOutcomesRepository,
  ) {
    tables.register(...deliveryTables(due, history, outcomes));
  }
}
