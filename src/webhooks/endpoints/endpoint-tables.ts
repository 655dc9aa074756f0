import { TableDeclaration } from '../../database/tables/table-declaration';

const NO_CONTACT = { none: 'It names no contact.' };

/** Declares the tables of endpoints, and of activations whose deliveries are being cancelled. */
export const ENDPOINT_TABLES: TableDeclaration[] = [
  {
    name: 'webhook_endpoints',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: {},
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    // A deleted endpoint stays until the partitions of its last day are dropped.
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
];
