import { TableDeclaration } from '../../database/tables/table-declaration';
import { AlertMailboxesRepository } from './alert-mailboxes.repository';

export function alertMailTables(mailboxes: AlertMailboxesRepository): TableDeclaration[] {
  return [
    {
      name: 'alert_mailboxes',
      key: { tenant_id: 'uuid', agent_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['agents'] },
      erasure: { eraseAgent: (tx, agent) => mailboxes.deleteByAgent(tx, agent) },
      export: { none: 'It is about people who log in, and names no contact.' },
      retention: { none: 'A row has the choice of an agent, and goes with the agent.' },
    },
  ];
}
