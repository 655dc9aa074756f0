import { TableDeclaration } from '../../database/tables/table-declaration';
import { DraftsRepository } from './drafts.repository';

/** Days for which a draft is kept after its last change. */
const KEPT_DAYS = 30;

/** Declares the table of drafts. */
export function draftTables(drafts: DraftsRepository): TableDeclaration[] {
  return [
    {
      name: 'drafts',
      key: { tenant_id: 'uuid', agent_id: 'uuid', conversation_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'agents'] },
      erasure: {
        eraseCopies: (tx, erased) => drafts.erase(tx, erased),
        eraseAgent: (tx, agent) => drafts.deleteByAgent(tx, agent),
      },
      export: { none: 'Nobody has said it yet: a draft is of one agent alone until it is sent.' },
      retention: { age: 'updated_at', keptHours: KEPT_DAYS * 24 },
    },
  ];
}
