import { TableDeclaration } from '../database/tables/table-declaration';

const NO_CONTACT = { none: 'It names no contact.' };
const GOES_LAST = { none: 'WorkspaceDeleter deletes it with the workspace, when no other table has a row.' };

export const WORKSPACE_TABLES: TableDeclaration[] = [
  {
    name: 'workspaces',
    key: { id: 'uuid' },
    placement: 'workspace',
    deletion: GOES_LAST,
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A workspace stays until it is deleted.' },
  },
  {
    name: 'workspace_slugs',
    key: { slug: 'text' },
    placement: 'coordinator',
    deletion: GOES_LAST,
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A row goes with its workspace.' },
  },
  {
    name: 'workspace_deletions',
    key: { tenant_id: 'uuid' },
    placement: 'workspace',
    deletion: GOES_LAST,
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'A row goes with its workspace, or when the deletion is cancelled.' },
  },
  {
    name: 'agents',
    key: { tenant_id: 'uuid', id: 'uuid' },
    placement: 'workspace',
    deletion: {},
    erasure: NO_CONTACT,
    export: NO_CONTACT,
    retention: { none: 'Messages name their agent, also one who has left.' },
  },
];
