import { TableDeclaration } from '../database/tables/table-declaration';
import { DeliveryHistoryRepository } from './deliveries/delivery-history.repository';
import { DueDeliveriesRepository } from './deliveries/due-deliveries.repository';
import { RecoveryOutcomesRepository } from './deliveries/recovery-outcomes.repository';
import { WebhookRecoveriesRepository } from './recoveries/webhook-recoveries.repository';

const NO_CONTACT = { none: 'It names no contact.' };
const COUNTS_ALONE = { none: 'It holds counts alone.' };
const OF_A_RECEIVER = { none: 'It tells how a receiver of the workspace was reached.' };
const BY_PARTITIONS = { none: 'Its partitions are dropped by the day.' };

interface Repositories {
  due: DueDeliveriesRepository;
  history: DeliveryHistoryRepository;
  outcomes: RecoveryOutcomesRepository;
  recoveries: WebhookRecoveriesRepository;
}

export function webhookTables({ due, history, outcomes, recoveries }: Repositories): TableDeclaration[] {
  return [
    {
      name: 'webhook_endpoints',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      erasure: NO_CONTACT,
      export: NO_CONTACT,
      // A deleted endpoint is kept until the history partition of its last day is dropped.
      retention: {
        age: 'deleted_at',
        keptHours: 'history',
        wholeDays: true,
        guard: `NOT EXISTS (SELECT FROM pending_deliveries d WHERE d.tenant_id = t.tenant_id AND d.endpoint_id = t.id)
        AND NOT EXISTS (SELECT FROM pending_cancellations c WHERE c.tenant_id = t.tenant_id AND c.endpoint_id = t.id)`,
      },
      secrets: ['secret', 'previous_secret'],
    },
    {
      name: 'pending_cancellations',
      key: { tenant_id: 'uuid', endpoint_id: 'uuid', activation: 'integer' },
      placement: 'workspace',
      deletion: { before: ['webhook_endpoints'] },
      erasure: NO_CONTACT,
      export: NO_CONTACT,
      retention: { none: 'A row goes when everything of its activation is cancelled.' },
    },
    {
      name: 'automatic_recoveries',
      key: { tenant_id: 'uuid', endpoint_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['webhook_endpoints'] },
      erasure: NO_CONTACT,
      export: NO_CONTACT,
      retention: { none: 'A row goes when its endpoint is well again, or somebody has acted.' },
    },
    {
      name: 'attempt_rollups',
      key: { tenant_id: 'uuid', endpoint_id: 'uuid', starts_at: 'timestamptz' },
      placement: 'workspace',
      deletion: { before: ['webhook_endpoints'] },
      erasure: COUNTS_ALONE,
      export: COUNTS_ALONE,
      retention: { age: 'starts_at', keptHours: 8 * 24 },
    },
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
    {
      name: 'webhook_recoveries',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['pending_deliveries', 'webhook_endpoints'] },
      erasure: { none: 'Its filter names a conversation at most.' },
      export: { none: 'It tells how a receiver of the workspace was reached.' },
      retention: { none: 'A row goes with its endpoint, or when 200 of the endpoint are newer.' },
      history: {
        // The cursor of a recovery without a filter moves to later ids; with a filter, to earlier ids.
        needsDay: `t.status = 'RUNNING' AND CASE WHEN t.filter IS NULL
          THEN t.cursor < day.next AND t.until >= day.start
          ELSE t.cursor > day.first AND (t.since IS NULL OR t.since < day.start + interval '24 hours') END`,
        giveUpSuspended: (tx, tenantId, next) => recoveries.passOver(tx, tenantId, next),
      },
    },
  ];
}
