import { Column, Entity, PrimaryColumn } from 'typeorm';
import { type DeliveryError, type DeliveryStatus } from './message-status';

export const SENDER_TYPES = ['CUSTOMER', 'AGENT'] as const;
export type SenderType = (typeof SENDER_TYPES)[number];

/** Message of a conversation. */
@Entity('messages')
export class MessageEntity {
  @PrimaryColumn('uuid', { name: 'tenant_id' })
  tenantId: string;

  @PrimaryColumn('uuid', { name: 'conversation_id' })
  conversationId: string;

  @PrimaryColumn('uuid')
  id: string;

  /** Message of the same conversation that this one repeats, because it was not delivered, or perhaps not. */
  @Column('uuid', { name: 'repeats_id', nullable: true })
  repeatsId: string | null;

  @Column('text', { name: 'sender_type' })
  senderType: SenderType;

  /** Agent who is shown as the sender; null for a customer's message. */
  @Column('uuid', { name: 'sender_agent_id', nullable: true })
  senderAgentId: string | null;

  @Column('text')
  body: string;

  /** Delivery status; null for a customer's message. */
  @Column('text', { name: 'delivery_status', nullable: true })
  deliveryStatus: DeliveryStatus | null;

  @Column('jsonb', { name: 'delivery_error', nullable: true })
  deliveryError: DeliveryError | null;

  /**
   * Time at which somebody dealt with a message that was not delivered, or perhaps not: sent it again,
   * dismissed it, or closed the conversation. null for any other.
   */
  @Column('timestamptz', { name: 'dismissed_at', nullable: true })
  dismissedAt: Date | null;

  /** Attachments, locations and other content as the provider sent them; null for plain text. */
  @Column('jsonb', { nullable: true, select: false })
  metadata: object | null;

  /** Text of before the first edit; null if the message was not edited, or was erased. */
  @Column('text', { name: 'first_body', nullable: true })
  firstBody: string | null;

  /** Latest texts between the first one and the present one, oldest first; null without any. */
  @Column('text', { name: 'replaced_bodies', array: true, nullable: true, select: false })
  replacedBodies: string[] | null;

  @Column('timestamptz', { name: 'edited_at', nullable: true })
  editedAt: Date | null;

  /** Provider's number of the last edit, by which an older one is known; null without one. */
  @Column('double precision', { name: 'edit_number', nullable: true })
  editNumber: number | null;

  /** Time at which the customer took the message back, which erased it; null for any other. */
  @Column('timestamptz', { name: 'unsent_at', nullable: true })
  unsentAt: Date | null;

  /** Emojis with which the customer reacts; null without any. */
  @Column('text', { array: true, nullable: true })
  reactions: string[] | null;

  /** Provider's number of the last reaction, by which an older one is known; null without one. */
  @Column('double precision', { name: 'reaction_number', nullable: true })
  reactionNumber: number | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt: Date;
}
