import { TableDeclaration } from '../database/tables/table-declaration';
import { AUDIT_TABLE } from './audit-entries.repository';

/** Declares the audit log. */
export const AUDIT_TABLES: TableDeclaration[] = [
  {
    name: AUDIT_TABLE,
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: { none: 'WorkspaceDeleter takes it last, as the owner of the tables: the service may not.' },
    erasure: { none: 'It names who has done what, and of a contact or a message no more than the id.' },
    export: { none: 'It is about agents and operators.' },
    retention: { none: 'It is kept for ever.' },
  },
];
