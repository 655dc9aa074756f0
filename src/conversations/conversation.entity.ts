import { type Channel } from '../common/channel-descriptors';

export const CONVERSATION_STATUSES = ['OPEN', 'SNOOZED', 'CLOSED'] as const;
export type ConversationStatus = (typeof CONVERSATION_STATUSES)[number];

/**
 * Returns the time at which a conversation reopens by itself; null if there is none. Ignores `snoozedUntil`
 * unless the status is SNOOZED, because an earlier version of the service, which may run during an upgrade,
 * reopens conversations without clearing it.
 */
export function endOfSnooze({
  status,
  snoozedUntil,
}: Pick<ConversationEntity, 'status' | 'snoozedUntil'>): Date | null {
  return status === 'SNOOZED' ? snoozedUntil : null;
}

export interface ConversationEntity {
  tenantId: string;
  id: string;
  contactId: string;
  sourceChannel: Channel;
  /** Contact's id on the channel, to which replies are sent; null until the customer writes. */
  identityExternalId: string | null;
  status: ConversationStatus;
  /** Time at which a snoozed conversation reopens by itself; null if it has no such time. */
  snoozedUntil: Date | null;
  assignedAgentId: string | null;
  /** Id of the newest message; null before the first one. Each new message gets a higher id. */
  lastMessageId: string | null;
  lastMessagePreview: string | null;
  lastMessageAt: Date | null;
  /** Id of the customer's first message that waits for a reply; null if none does. */
  waitingMessageId: string | null;
  /** Number of the conversation's latest event. Webhook receivers put events in order by these numbers. */
  eventSequence: string;
  createdAt: Date;
  updatedAt: Date;
}
