import { TableDeclaration } from '../../database/tables/table-declaration';

/** Declares the table of counted attempts. */
export const ROLLUP_TABLES: TableDeclaration[] = [
  {
    name: 'attempt_rollups',
    key: { tenant_id: 'uuid', endpoint_id: 'uuid', starts_at: 'timestamptz' },
    placement: 'workspace',
    deletion: { before: ['webhook_endpoints'] },
    erasure: { none: 'It holds counts alone.' },
    export: { none: 'It holds counts alone.' },
    retention: { age: 'starts_at', keptHours: 8 * 24 },
  },
];
