import type { OutboxRecord } from '../outbox/outbox-record';
import { isFromAgent, type Message } from '../protocol/types';

type ItemState = 'sending' | 'sent' | 'failed' | 'received';

/** A message in the form in which it is shown. */
export interface ChatItem {
  /** Key of the element. It stays the same from writing to reading, so that the element stays. */
  key: string;
  /** Id of the message; while it is unsent, its clientMessageId. */
  id: string;
  state: ItemState;
  body: string;
  /** Id by which the visitor can change the message; null if it is not the visitor's, or has no text. */
  changeId: string | null;
  isEdited: boolean;
  /** Time of the message; null while it is unsent. */
  createdAt: string | null;
  senderName: string | null;
  /** True if an agent has written after it. */
  isRead: boolean;
}

/**
 * Lists each message once: the service's messages in their order, then those that the service does not have
 * yet.
 * @param hasOlder whether the service has messages before these
 */
export function itemsOf(
  messages: readonly Message[],
  records: readonly OutboxRecord[],
  hasOlder: boolean,
): ChatItem[] {
  const known = new Set(messages.flatMap(({ id, clientMessageId }) => [id, clientMessageId]));
  // A message that was sent before the oldest one here belongs to the history that has not been read.
  const begin = (hasOlder && messages[0]?.id) || '';
  const isUnknown = ({ clientMessageId, message }: OutboxRecord) =>
    !known.has(clientMessageId) && !(message && (known.has(message.id) || message.id < begin));
  const ahead = records.filter(isUnknown);
  const stored = [
    ...messages,
    ...ahead.flatMap(({ state, message }) => (state === 'sent' && message ? [message] : [])),
  ].sort((one, other) => (one.id < other.id ? -1 : 1));
  const lastAnswer = stored.findLastIndex(isFromAgent);
  return [
    ...stored.map((message, index) => storedItem(message, index < lastAnswer)),
    ...ahead.filter(({ state }) => state !== 'sent').map(unsentItem),
  ];
}

function storedItem(message: Message, isRead: boolean): ChatItem {
  const { id, clientMessageId, body, createdAt, senderName, editedAt } = message;
  const isReceived = isFromAgent(message);
  const state = isReceived ? 'received' : 'sent';
  const changeId = isReceived || body === '' ? null : clientMessageId;
  const isEdited = Boolean(editedAt) && body !== '';
  return { key: clientMessageId ?? id, id, state, body, changeId, isEdited, createdAt, senderName, isRead };
}

function unsentItem({ clientMessageId, body, state }: OutboxRecord): ChatItem {
  return {
    key: clientMessageId,
    id: clientMessageId,
    state: state === 'failed' ? 'failed' : 'sending',
    body,
    changeId: null,
    isEdited: false,
    createdAt: null,
    senderName: null,
    isRead: false,
  };
}
