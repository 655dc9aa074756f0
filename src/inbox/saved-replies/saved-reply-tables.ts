import { TableDeclaration } from '../../database/tables/table-declaration';

/** Declares the table of saved replies. */
export const SAVED_REPLY_TABLES: TableDeclaration[] = [
  {
    name: 'saved_replies',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: {},
    erasure: { none: 'Managers write it for all customers: it names none of them.' },
    export: { none: 'It is about no contact.' },
    retention: { none: 'A workspace keeps its saved replies until it deletes them.' },
  },
];
