import type { OutboxRecord } from '../outbox/outbox-record';
import { isFromAgent, type Message } from '../protocol/types';

export type ItemState = 'sending' | 'sent' | 'failed' | 'received';

/** A message as it is shown. */
export interface ChatItem {
  /** Stays the same from writing to reading, so that the element stays. */
  key: string;
  /** The message's id; while it is unsent, the clientMessageId. */
  id: string;
  state: ItemState;
  body: string;
  /** Null while it is unsent. */
  createdAt: string | null;
  senderName: string | null;
  /** An agent has answered after it. */
  isRead: boolean;
}

/**
 * Each message once: what the service has, in its order, then what it does not have yet.
 * @param hasOlder the service has messages before these
 */
export function itemsOf(
  messages: readonly Message[],
  records: readonly OutboxRecord[],
  hasOlder: boolean,
): ChatItem[] {
  const known = new Set(messages.flatMap(({ id, clientMessageId }) => [id, clientMessageId]));
  // What was sent before the oldest message here belongs to the history that has not been read.
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
  const { id, clientMessageId, body, createdAt, senderName } = message;
  const isReceived = isFromAgent(message);
  const state = isReceived ? 'received' : 'sent';
  return { key: clientMessageId ?? id, id, state, body, createdAt, senderName, isRead };
}

function unsentItem({ clientMessageId, body, state }: OutboxRecord): ChatItem {
  return {
    key: clientMessageId,
    id: clientMessageId,
    state: state === 'failed' ? 'failed' : 'sending',
    body,
    createdAt: null,
    senderName: null,
    isRead: false,
  };
}
