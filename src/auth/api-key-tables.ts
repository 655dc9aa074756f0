import { TableDeclaration } from '../stored-data/table-declaration';

/** Declares the table of API keys. */
export const API_KEY_TABLES: TableDeclaration[] = [
  {
    name: 'api_keys',
    key: { tenant_id: 'uuid', id: 'uuid' },
    deletion: { before: ['agents'] },
    erasure: { none: 'It names no contact.' },
    export: { none: 'It names no contact.' },
    retention: {
      none: 'Of keys that are revoked or have expired, a creation deletes all but the latest 300.',
    },
  },
];
