import { TableDeclaration } from '../../database/tables/table-declaration';

/** Declares the table of read marks. */
export const READ_MARK_TABLES: TableDeclaration[] = [
  {
    name: 'read_marks',
    key: { tenant_id: 'uuid', agent_id: 'uuid', conversation_id: 'uuid' },
    placement: 'workspace',
    deletion: { before: ['conversations', 'agents'] },
    erasure: { none: 'It says how far an agent has read, and nothing of the contact.' },
    export: { none: 'It says how far an agent has read, and nothing of the contact.' },
    retention: { none: 'A mark stays with its conversation: without it, all would count as unread again.' },
  },
];
