import { type Channel } from '../common/channel-descriptors';

export const CONVERSATION_STATUSES = ['OPEN', 'SNOOZED', 'CLOSED'] as const;
export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];

/**
 * Returns when a conversation opens by itself; null if it is not snoozed. During an update, a process of an
 * earlier version leaves the time behind when it opens a conversation.
 */
export function endOfSnooze({
  status,
  snoozedUntil,
}: Pick<ConversationEntity, 'status' | 'snoozedUntil'>): Date | null {
  return status === 'SNOOZED' ? snoozedUntil : null;
}

/** Conversation of a workspace with one contact over one channel. */
export interface ConversationEntity {
  tenantId: string;
  id: string;
  contactId: string;
  sourceChannel: Channel;
  /** Identity of the contact on the channel; null until the customer writes. */
  identityExternalId: string | null;
  status: ConversationStatus;
  /** Time at which a snoozed conversation opens again by itself; null without such an end. */
  snoozedUntil: Date | null;
  assignedAgentId: string | null;
  /** Id of the newest message. The next id is made above it. */
  lastMessageId: string | null;
  lastMessagePreview: string | null;
  lastMessageAt: Date | null;
  /**
   * Number of the conversation's events so far. Each event carries its number, so that receivers can order
   * them.
   */
  eventSequence: string;
  createdAt: Date;
  updatedAt: Date;
}
