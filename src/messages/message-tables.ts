import { LOWEST_ID } from '../common/ids';
import { ConversationKey, TableDeclaration } from '../stored-data/table-declaration';
import { MessageResponse, toMessageWithFirstBody } from './message.dto';
import { KeptMessage, MessagesRepository } from './messages.repository';

/** Number of messages that one statement of an export reads at most. */
const PAGE = 200;

/** Line of a contact's export that holds a message. */
export type MessageLine = { type: 'message'; conversationId: string } & MessageResponse &
  Pick<KeptMessage, 'metadata'>;

/** Declares the table of messages. */
export function messageTables(messages: MessagesRepository): TableDeclaration[] {
  return [
    {
      name: 'messages',
      key: { tenant_id: 'uuid', conversation_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'agents'] },
      erasure: { eraseMessages: (tx, erased, beingSent) => messages.erase(tx, erased, beingSent) },
      export: { exportConversation: (key) => exportMessages(messages, key) },
      retention: {
        none: 'MessageRetentionService erases texts at the age that their workspace has set; rows stay.',
      },
    },
  ];
}

async function* exportMessages(
  messages: MessagesRepository,
  key: ConversationKey,
): AsyncGenerator<MessageLine> {
  const { conversationId } = key;
  for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
    const page: KeptMessage[] = await messages.listFrom(key, after, PAGE);
    for (const { metadata, ...message } of page)
      yield { type: 'message', conversationId, ...toMessageWithFirstBody(message), metadata };
    after = page.length < PAGE ? undefined : page.at(-1)!.id;
  }
}
