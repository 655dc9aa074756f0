import { type Channel } from '../common/channel-descriptors';

export const CONVERSATION_STATUSES = ['OPEN', 'SNOOZED', 'CLOSED'] as const;
export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];

/**
 * Returns the time at which a conversation reopens by itself; null if it is not snoozed, or its snooze has no
 * end. `snoozedUntil` alone is not enough: during an upgrade, processes of the earlier version reopen
 * conversations without clearing it.
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
  /** Contact's id on the channel, to which answers are sent; null until the customer writes. */
  identityExternalId: string | null;
  status: ConversationStatus;
  /** Time at which a snoozed conversation reopens by itself; null if it has no such time. */
  snoozedUntil: Date | null;
  assignedAgentId: string | null;
  /** Id of the newest message; null before the first one. Each new message gets a higher id. */
  lastMessageId: string | null;
  lastMessagePreview: string | null;
  lastMessageAt: Date | null;
  /**
   * Number of the conversation's latest event. Each event carries its number, so that receivers can order the
   * events of a conversation.
   */
  eventSequence: string;
  createdAt: Date;
  updatedAt: Date;
}
