import { TableDeclaration } from '../../database/tables/table-declaration';

const NO_CONTACT = { none: 'It is about people who log in, and names no contact.' };

export const PUSH_TABLES: TableDeclaration[] = [
  {
    name: 'push_addresses',
    key: { session_id: 'uuid' },
    placement: 'coordinator',
    deletion: { none: 'It belongs to a person, who may be a member of other workspaces.' },
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A row goes with its login session.' },
  },
];
