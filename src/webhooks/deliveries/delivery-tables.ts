import { TableDeclaration } from '../../database/tables/table-declaration';
import { DeliveryHistoryRepository } from './delivery-history.repository';
import { DueDeliveriesRepository } from './due-deliveries.repository';
import { RecoveryOutcomesRepository } from './recovery-outcomes.repository';

const OF_A_RECEIVER = { none: 'It tells how a receiver of the workspace was reached.' };
const BY_PARTITIONS = { none: 'Its partitions are dropped by the day.' };

/** Declares the tables of pending deliveries, of the history, and of what recoveries have not counted yet. */
export function deliveryTables(
  due: DueDeliveriesRepository,
  history: DeliveryHistoryRepository,
  outcomes: RecoveryOutcomesRepository,
): TableDeclaration[] {
  return [
    {
      name: 'pending_deliveries',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['events', 'webhook_endpoints'], after: ['event_queue', 'parked_events'] },
      erasure: { none: 'It names its event; an attempt reads the event again.' },
      export: OF_A_RECEIVER,
      retention: { none: 'A row goes when its delivery has succeeded, or is given up.' },
      history: {
        needsDay: 't.id >= day.first AND t.id < day.next',
        giveUpSuspended: async (tx, tenantId, next, count) => {
          const deleted = await due.deleteSuspended(tx, tenantId, next, count);
          outcomes.insertPipelined(
            tx,
            deleted.map((one) => ({ ...one, tenantId, status: 'CANCELLED' })),
          );
          return deleted.length;
        },
      },
    },
    {
      name: 'recovery_outcomes',
      key: { tenant_id: 'uuid', recovery_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { after: ['pending_deliveries'] },
      erasure: { none: 'It holds numbers alone.' },
      export: OF_A_RECEIVER,
      retention: { none: 'A row goes when it is added to its recovery, within seconds.' },
    },
    {
      name: 'webhook_attempts',
      key: { tenant_id: 'uuid', delivery_id: 'uuid', round: 'smallint', attempt: 'smallint' },
      placement: 'workspace',
      deletion: { before: ['webhook_deliveries', 'webhook_endpoints'], after: ['pending_deliveries'] },
      erasure: { none: 'webhook_deliveries erases the answers of both tables.' },
      export: OF_A_RECEIVER,
      retention: BY_PARTITIONS,
    },
    {
      name: 'webhook_deliveries',
      key: { tenant_id: 'uuid', id: 'uuid', round: 'smallint' },
      placement: 'workspace',
      deletion: { before: ['events', 'webhook_endpoints'], after: ['pending_deliveries'] },
      erasure: { eraseUnlocked: (tx, messages) => history.eraseAnswers(tx, messages) },
      export: OF_A_RECEIVER,
      retention: BY_PARTITIONS,
    },
  ];
}
