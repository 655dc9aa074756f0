import { TableDeclaration } from '../database/tables/table-declaration';
import { MessageIndexRepository } from './message-index.repository';

const NO_COPY = { none: 'It tells nothing that a message does not.' };

export function messageSearchTables(index: MessageIndexRepository): TableDeclaration[] {
  return [
    {
      name: 'message_search',
      key: { tenant_id: 'uuid', message_id: 'uuid' },
      placement: 'workspace',
      deletion: {},
      erasure: { eraseCopies: (tx, messages) => index.erase(tx, messages) },
      export: NO_COPY,
      retention: { none: 'A row goes when the text of its message is erased.' },
    },
    {
      name: 'message_search_progress',
      key: { tenant_id: 'uuid' },
      placement: 'workspace',
      // These rows are deleted first, because without them no worker inserts rows into `message_search`.
      deletion: { before: ['message_search'] },
      erasure: { none: 'It counts messages, and says nothing of them.' },
      export: NO_COPY,
      retention: { none: 'A workspace has one row.' },
    },
  ];
}
