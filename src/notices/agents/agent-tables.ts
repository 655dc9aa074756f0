import { TableDeclaration } from '../../database/tables/table-declaration';
import { AgentNoticesRepository } from './agent-notices.repository';
import { NoticeChoicesRepository } from './notice-choices.repository';

const NO_CONTACT = { none: 'It is about an agent, and names no contact.' };

export function agentNoticeTables(
  choices: NoticeChoicesRepository,
  notices: AgentNoticesRepository,
): TableDeclaration[] {
  return [
    {
      name: 'agent_notice_choices',
      key: { tenant_id: 'uuid', agent_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['agents'] },
      erasure: { eraseAgent: (tx, agent) => choices.delete(tx, agent) },
      export: NO_CONTACT,
      retention: { none: 'Choices stay until their agent is deactivated.' },
    },
    {
      name: 'agent_notices',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'agents'] },
      erasure: {
        eraseCopies: async (tx, erased) => {
          if (erased.withContact) await notices.deleteOfConversation(tx, erased);
        },
        eraseAgent: (tx, agent) => notices.deleteOfAgent(tx, agent),
      },
      export: { none: 'It says no more than that an agent was told of a conversation.' },
      retention: { age: 'created_at', keptHours: 'history', guard: 't.due_at IS NULL' },
    },
  ];
}
