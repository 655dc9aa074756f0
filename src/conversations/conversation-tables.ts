import { ConversationKey, TableDeclaration } from '../database/tables/table-declaration';
import { ConversationResponse, toConversation } from './conversation.dto';
import { ConversationsRepository } from './conversations.repository';

export type ConversationLine = { type: 'conversation' } & ConversationResponse;

export function conversationTables(conversations: ConversationsRepository): TableDeclaration[] {
  return [
    {
      name: 'conversations',
      key: { tenant_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['contacts', 'agents'] },
      erasure: { eraseCopies: (tx, messages) => conversations.erase(tx, messages) },
      export: { exportConversation: (key) => exportConversation(conversations, key) },
      retention: { none: 'A workspace keeps its conversations; only the texts in them grow too old.' },
    },
  ];
}

async function* exportConversation(
  conversations: ConversationsRepository,
  { tenantId, conversationId }: ConversationKey,
): AsyncGenerator<ConversationLine> {
  const conversation = await conversations.find(tenantId, conversationId);
  if (conversation) yield { type: 'conversation', ...toConversation(conversation) };
}
