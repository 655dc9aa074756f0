import type { Message } from '../protocol/types';

/** A message that the visitor has written here, until the service has surely kept it. */
export interface OutboxRecord {
  clientMessageId: string;
  /** The visitor who wrote it: nobody else sends it. */
  owner: string;
  body: string;
  /** What an anonymous visitor has said of themselves before the first message. */
  name?: string;
  email?: string;
  /** Grows from message to message. */
  order: number;
  state: 'waiting' | 'failed' | 'sent';
  /** As the service has stored it. */
  message?: Message;
  sentAt?: number;
  /** Of two copies in two tabs, the higher one is right. */
  revision: number;
}
