import { TableDeclaration } from '../database/tables/table-declaration';

/** Declares the table of erasures. */
export const PRIVACY_TABLES: TableDeclaration[] = [
  {
    name: 'contact_erasures',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: { before: ['contacts'] },
    erasure: { none: 'It proves that a contact was erased, and says nothing of them.' },
    export: { none: 'An erased contact has nothing to export.' },
    retention: { none: 'A row stays as the proof of an erasure.' },
  },
];
