// What the service says, as in docs/widget-protocol.md.

export interface SessionAnswer {
  token: string;
  expiresAt: string;
  conversationId: string | null;
}

export interface Message {
  /** Ids grow with time, so they are also the order. */
  id: string;
  senderType: string;
  senderName: string | null;
  clientMessageId: string | null;
  body: string;
  createdAt: string;
  delivery: { status: string | null };
}

export interface MessagePage {
  /** Newest first. */
  data: Message[];
  nextCursor: string | null;
}

/** Latest state of a conversation that a client knows. */
export interface Position {
  conversationId: string | null;
  sequence: number;
}

export type ConversationEvent =
  | ({ type: 'ready' | 'heartbeat' } & Position)
  | ({ type: 'message'; message: Message } & Position)
  /** Newest messages, polled while a proxy holds the stream back. */
  | { type: 'page'; page: MessagePage };

export type EndReason = 'token_expired' | 'widget_changed' | 'server_stopping';

export type StreamEvent = Exclude<ConversationEvent, { type: 'page' }> | { type: 'end'; reason: EndReason };

export const isFromAgent = ({ senderType }: Message): boolean => senderType !== 'CUSTOMER';
