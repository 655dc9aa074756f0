// Answers and events of the service, as docs/reference/widget-protocol.md defines them.

export interface SessionAnswer {
  token: string;
  expiresAt: string;
  conversationId: string | null;
}

export interface Message {
  /** Id of the message. Ids grow with time, so a list that is sorted by id is in order of time. */
  id: string;
  senderType: string;
  senderName: string | null;
  clientMessageId: string | null;
  body: string;
  createdAt: string;
  delivery: { status: string | null };
  /** Files of the message; missing if the service is older than files. */
  attachments?: Attachment[];
  /** Whether `body` only describes the files for clients that show no files. */
  isDescribed?: boolean;
  /** Time of the last edit (ISO 8601); null or missing if the message was not edited. */
  editedAt?: string | null;
}

export interface Attachment {
  id: string;
  kind: FileKind;
  contentType: string | null;
  name: string | null;
  size: number | null;
  /** State of the file's bytes: READY, PENDING or FAILED; more may come. */
  state: string;
  width: number | null;
  height: number | null;
}

export type FileKind = 'IMAGE' | 'AUDIO' | 'VIDEO' | 'FILE';

export interface MessagePage {
  /** Messages of the page, newest first. */
  data: Message[];
  nextCursor: string | null;
}

/** Conversation, and the sequence number of its latest event when the service sent the position. */
export interface Position {
  conversationId: string | null;
  sequence: number;
}

export type ConversationEvent =
  | ({ type: 'ready' | 'heartbeat'; isOnline?: boolean | null } & Position)
  | ({ type: 'typing'; name: string | null; isTyping: boolean } & Position)
  | ({ type: 'message'; message: Message } & Position)
  /** Page of the newest messages, which the widget polls while the stream fails. */
  | { type: 'page'; page: MessagePage };

export type EndReason = 'token_expired' | 'widget_changed' | 'server_stopping';

export type StreamEvent = Exclude<ConversationEvent, { type: 'page' }> | { type: 'end'; reason: EndReason };

export const isFromAgent = ({ senderType }: Message): boolean => senderType !== 'CUSTOMER';
