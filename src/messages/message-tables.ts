import { LOWEST_ID } from '../common/ids';
import { ConversationKey, TableDeclaration } from '../database/tables/table-declaration';
import { AttachmentsRepository } from '../attachments/attachments.repository';
import { MessageResponse, toMessageWithFirstBody } from './message.dto';
import { KeptMessage, MessagesRepository } from './messages.repository';

const PAGE = 200;

export type MessageLine = { type: 'message'; conversationId: string } & MessageResponse &
  Pick<KeptMessage, 'metadata' | 'replacedBodies'>;

export function messageTables(
  messages: MessagesRepository,
  attachments: AttachmentsRepository,
): TableDeclaration[] {
  return [
    {
      name: 'messages',
      key: { tenant_id: 'uuid', conversation_id: 'uuid', id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['conversations', 'agents'] },
      erasure: { eraseMessages: (tx, erased, beingSent) => messages.erase(tx, erased, beingSent) },
      export: { exportConversation: (key) => exportMessages(messages, attachments, key) },
      retention: {
        none: 'MessageRetentionService erases texts at the age that their workspace has set; rows stay.',
      },
    },
    {
      name: 'unsent_messages',
      key: { tenant_id: 'uuid', conversation_id: 'uuid', message_id: 'uuid' },
      placement: 'workspace',
      deletion: { before: ['messages'] },
      erasure: { none: 'It names a message whose text is gone, and says no more.' },
      export: { none: 'It names a message whose text is gone.' },
      retention: { none: 'A row goes when the answers of receivers are erased, minutes later.' },
    },
  ];
}

async function* exportMessages(
  messages: MessagesRepository,
  attachments: AttachmentsRepository,
  key: ConversationKey,
): AsyncGenerator<MessageLine> {
  const { conversationId } = key;
  for (let after: string | undefined = LOWEST_ID; after !== undefined;) {
    const page: KeptMessage[] = await messages.listFrom(key, after, PAGE);
    const withFiles = page.filter(({ attachmentCount }) => attachmentCount > 0).map(({ id }) => id);
    const attached = await attachments.listOfMessages(key, withFiles);
    for (const { metadata, replacedBodies, ...message } of page) {
      const line = toMessageWithFirstBody(message, attached.get(message.id));
      yield { type: 'message', conversationId, ...line, replacedBodies, metadata };
    }
    after = page.length < PAGE ? undefined : page.at(-1)!.id;
  }
}
