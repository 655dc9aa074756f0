import { Column, Entity, PrimaryColumn } from 'typeorm';
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
@Entity('conversations')
export class ConversationEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid')
  id: string;

  @Column('uuid', { name: 'contact_id' })
  contactId: string;

  @Column('text', { name: 'source_channel' })
  sourceChannel: Channel;

  /** Identity of the contact on the channel; null until the customer writes. */
  @Column('text', { name: 'identity_external_id', nullable: true })
  identityExternalId: string | null;

  @Column('text')
  status: ConversationStatus;

  /** Time at which a snoozed conversation opens again by itself; null without such an end. */
  @Column('timestamptz', { name: 'snoozed_until', nullable: true })
  snoozedUntil: Date | null;

  @Column('uuid', { name: 'assigned_agent_id', nullable: true })
  assignedAgentId: string | null;

  /** Id of the newest message. The next id is made above it. */
  @Column('uuid', { name: 'last_message_id', nullable: true })
  lastMessageId: string | null;

  @Column('text', { name: 'last_message_preview', nullable: true })
  lastMessagePreview: string | null;

  @Column('timestamptz', { name: 'last_message_at', nullable: true })
  lastMessageAt: Date | null;

  /**
   * Number of the conversation's events so far. Each event carries its number, so that receivers can order
   * them.
   */
  @Column('bigint', { name: 'event_sequence' })
  eventSequence: string;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;

  @Column('timestamptz', { name: 'updated_at' })
  updatedAt: Date;
}
