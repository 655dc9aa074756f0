import type { Message } from '../protocol/types';

/** A message that the visitor has written here, until the service has surely kept it. */
export interface OutboxRecord {
  clientMessageId: string;
  /** The visitor who wrote it: nobody else sends it. */
  owner: string;
  body: string;
  /** Name that an anonymous visitor gave before the first message. */
  name?: string;
  email?: string;
  /** Grows from message to message. */
  order: number;
  state: 'waiting' | 'failed' | 'sent';
  /** Stored message as the service returned it. */
  message?: Message;
  sentAt?: number;
  /** Number of changes: of two copies in two tabs, the higher one wins. */
  revision: number;
}
