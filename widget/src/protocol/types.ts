// Answers and events of the service, as in docs/reference/widget-protocol.md.

export interface SessionAnswer {
  token: string;
  expiresAt: string;
  conversationId: string | null;
}

export interface Message {
  /** Id of the message. Ids grow with time, so they also give the order. */
  id: string;
  senderType: string;
  senderName: string | null;
  clientMessageId: string | null;
  body: string;
  createdAt: string;
  delivery: { status: string | null };
  /** Time of the last edit; null or missing without one. */
  editedAt?: string | null;
}

export interface MessagePage {
  /** Messages, newest first. */
  data: Message[];
  nextCursor: string | null;
}

/** Latest state of a conversation that a client knows. */
export interface Position {
  conversationId: string | null;
  sequence: number;
}

export type ConversationEvent =
  | ({ type: 'ready' | 'heartbeat'; isOnline?: boolean | null } & Position)
  | ({ type: 'typing'; name: string | null; isTyping: boolean } & Position)
  | ({ type: 'message'; message: Message } & Position)
  /** A page of the newest messages, polled while a proxy holds the stream back. */
  | { type: 'page'; page: MessagePage };

export type EndReason = 'token_expired' | 'widget_changed' | 'server_stopping';

export type StreamEvent = Exclude<ConversationEvent, { type: 'page' }> | { type: 'end'; reason: EndReason };

export const isFromAgent = ({ senderType }: Message): boolean => senderType !== 'CUSTOMER';
