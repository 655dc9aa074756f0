import { ConversationKey, TableDeclaration } from '../../database/tables/table-declaration';
import { AnswerAddressesRepository } from './answer-addresses.repository';
import { AnswerNoticesRepository } from './answer-notices.repository';

export interface AnswerAddressLine {
  type: 'answerAddress';
  conversationId: string;
  email: string | null;
  locale: string;
}

export function answerTables(
  addresses: AnswerAddressesRepository,
  notices: AnswerNoticesRepository,
): TableDeclaration[] {
  return [
    {
      name: 'answer_addresses',
      key: { tenant_id: 'uuid', conversation_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations'] },
      erasure: {
        eraseCopies: async (tx, erased) => {
          if (erased.withContact) await addresses.delete(tx, erased);
        },
      },
      export: { exportConversation: (key) => exportAddress(addresses, key) },
      retention: { none: 'A row goes with the contact of its conversation.' },
    },
    {
      name: 'answer_notices',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'channel_connections'] },
      erasure: {
        eraseCopies: async (tx, erased) => {
          if (erased.withContact) await notices.deleteOfConversation(tx, erased);
        },
      },
      export: { none: 'It says no more than that a mail about exported messages was sent.' },
      retention: { age: 'created_at', keptHours: 'history', guard: 't.due_at IS NULL' },
    },
  ];
}

async function* exportAddress(
  addresses: AnswerAddressesRepository,
  key: ConversationKey,
): AsyncGenerator<AnswerAddressLine> {
  const address = await addresses.find(key);
  if (address) yield { type: 'answerAddress', conversationId: key.conversationId, ...address };
}
