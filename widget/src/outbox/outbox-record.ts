import type { Message } from '../protocol/types';

/** Message that a visitor wrote in this browser. `Outbox.load` deletes it if sent over ten minutes ago. */
export interface OutboxRecord {
  clientMessageId: string;
  /** Visitor who wrote the message. It is sent only in a session of this visitor. */
  owner: string;
  body: string;
  /** Name that an anonymous visitor entered in the form. It is sent with the first message. */
  name?: string;
  email?: string;
  /** Sort key among the visitor's messages: a later message has a higher number. */
  order: number;
  state: 'waiting' | 'failed' | 'sent';
  /** Message as the service has stored it; missing while it is unsent. */
  message?: Message;
  sentAt?: number;
  /** Version of this record. If two tabs have different versions, the higher number is the newer one. */
  revision: number;
}
