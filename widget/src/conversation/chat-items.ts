import { NO_FILES, storedFiles, unsentFiles, type ItemFile } from '../files/item-files';
import type { FileProblem, OutboxRecord } from '../outbox/outbox-record';
import { isFromAgent, type Message } from '../protocol/types';

type ItemState = 'sending' | 'sent' | 'failed' | 'received';

/** Message as the panel shows it: stored by the service, or still unsent. */
export interface ChatItem {
  /** Key of the message's element. It does not change when the service stores the message. */
  key: string;
  /** Id of the message; its clientMessageId while it is unsent. */
  id: string;
  state: ItemState;
  /** Text of the message; empty if the message was deleted or has files alone. */
  body: string;
  files: readonly ItemFile[];
  /** Reason why a file of a failed message cannot be sent; null if no file is the reason. */
  problem: FileProblem | null;
  /** clientMessageId by which the visitor can edit or delete the message; null if the visitor can't. */
  changeId: string | null;
  isEdited: boolean;
  /** Time at which the service stored the message (ISO 8601); null while it is unsent. */
  createdAt: string | null;
  senderName: string | null;
  /** Whether an agent has written a message after this one, which shows that this one was read. */
  isRead: boolean;
}

/**
 * Lists the messages that the service has stored, sorted by id, and then the unsent ones. A message that is
 * in both `messages` and `records` is listed once.
 *
 * @param hasOlder whether the service has messages older than `messages`
 */
export function itemsOf(
  messages: readonly Message[],
  records: readonly OutboxRecord[],
  hasOlder: boolean,
): ChatItem[] {
  const known = new Set(messages.flatMap(({ id, clientMessageId }) => [id, clientMessageId]));
  // A record older than `messages` is left out, because its message belongs to the older pages.
  const begin = (hasOlder && messages[0]?.id) || '';
  const isUnknown = ({ clientMessageId, message }: OutboxRecord) =>
    !known.has(clientMessageId) && !(message && (known.has(message.id) || message.id < begin));
  const ahead = records.filter(isUnknown);
  const stored = [
    ...messages,
    ...ahead.flatMap(({ state, message }) => (state === 'sent' && message ? [message] : [])),
  ].sort((one, other) => (one.id < other.id ? -1 : 1));
  const byClientId = new Map(records.map((record) => [record.clientMessageId, record]));
  const lastAnswer = stored.findLastIndex(isFromAgent);
  return [
    ...stored.map((message, index) =>
      storedItem(message, byClientId.get(message.clientMessageId ?? ''), index < lastAnswer),
    ),
    ...ahead.filter(({ state }) => state !== 'sent').map(unsentItem),
  ];
}

function storedItem(message: Message, record: OutboxRecord | undefined, isRead: boolean): ChatItem {
  const { id, clientMessageId, attachments, createdAt, senderName, editedAt } = message;
  const files = attachments?.length ? storedFiles(attachments, record?.files) : NO_FILES;
  const body = files.length > 0 && message.isDescribed ? '' : message.body;
  const isReceived = isFromAgent(message);
  const state = isReceived ? 'received' : 'sent';
  const isDeleted = body === '' && files.length === 0;
  return {
    key: clientMessageId ?? id,
    id,
    state,
    body,
    files,
    problem: null,
    changeId: isReceived || isDeleted ? null : clientMessageId,
    isEdited: Boolean(editedAt) && !isDeleted,
    createdAt,
    senderName,
    isRead,
  };
}

function unsentItem({ clientMessageId, body, files, state, problem }: OutboxRecord): ChatItem {
  return {
    key: clientMessageId,
    id: clientMessageId,
    state: state === 'failed' ? 'failed' : 'sending',
    body,
    files: files ? unsentFiles(files) : NO_FILES,
    problem: problem ?? null,
    changeId: null,
    isEdited: false,
    createdAt: null,
    senderName: null,
    isRead: false,
  };
}
