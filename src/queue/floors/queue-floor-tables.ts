import { TableDeclaration } from '../../database/tables/table-declaration';

export const QUEUE_FLOOR_TABLES: TableDeclaration[] = [
  {
    name: 'queue_floors',
    key: { tenant_id: 'uuid', queue: 'text', part: 'text' },
    placement: 'workspace',
    deletion: { after: ['event_queue', 'pending_deliveries', 'outbound_messages'] },
    erasure: { none: 'It names no contact.' },
    export: { none: 'It tells when work was done, and nothing of a contact.' },
    retention: { age: 'saved_at', keptHours: 'history' },
  },
];
