import { TableDeclaration } from '../../database/tables/table-declaration';
import { WebhookRecoveriesRepository } from './webhook-recoveries.repository';

/** Declares the table of recoveries. */
export function recoveryTables(recoveries: WebhookRecoveriesRepository): TableDeclaration[] {
  return [
    {
      name: 'webhook_recoveries',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['pending_deliveries', 'webhook_endpoints'] },
      erasure: { none: 'Its filter names a conversation at most.' },
      export: { none: 'It tells how a receiver of the workspace was reached.' },
      retention: { none: 'A row goes with its endpoint, or when 200 of the endpoint are newer.' },
      history: {
        // A recovery without a filter goes up from its cursor, one with a filter down from it.
        needsDay: `t.status = 'RUNNING' AND CASE WHEN t.filter IS NULL
          THEN t.cursor < day.next AND t.until >= day.start
          ELSE t.cursor > day.first AND (t.since IS NULL OR t.since < day.start + interval '24 hours') END`,
        giveUpSuspended: (tx, tenantId, next) => recoveries.passOver(tx, tenantId, next),
      },
    },
  ];
}
