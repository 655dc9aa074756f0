import type { Message } from '../protocol/types';

/**
 * A message that the visitor has written in this browser. It is kept for ten minutes after the service has
 * stored it.
 */
export interface OutboxRecord {
  clientMessageId: string;
  /** Visitor who wrote the message. The browser sends it for this visitor only. */
  owner: string;
  body: string;
  /** Name that an anonymous visitor gave before the first message. */
  name?: string;
  email?: string;
  /** Position among the visitor's messages: a later message has a higher number. */
  order: number;
  state: 'waiting' | 'failed' | 'sent';
  /** Stored message as the service returned it. */
  message?: Message;
  sentAt?: number;
  /**
   * Number of changes that the record has had. If two tabs have different copies, the one with the higher
   * number is newer.
   */
  revision: number;
}
