import { TableDeclaration } from '../database/tables/table-declaration';

export const API_KEY_TABLES: TableDeclaration[] = [
  {
    name: 'api_key_hashes',
    key: { hash: 'bytea' },
    placement: 'coordinator',
    deletion: { before: ['api_keys'] },
    erasure: { none: 'It names no contact.' },
    export: { none: 'It names no contact.' },
    retention: { none: 'A row goes with its key.' },
  },
  {
    name: 'api_keys',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: { before: ['agents'] },
    erasure: { none: 'It names no contact.' },
    export: { none: 'It names no contact.' },
    retention: {
      none: 'Of keys that are revoked or have expired, a creation deletes all but the latest 300.',
    },
  },
];
