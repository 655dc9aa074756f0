import { type DeliveryError, type DeliveryStatus } from './message-status';

export const SENDER_TYPES = ['CUSTOMER', 'AGENT'] as const;
export type SenderType = (typeof SENDER_TYPES)[number];

/** Message of a conversation. */
export interface MessageEntity {
  tenantId: string;
  conversationId: string;
  id: string;
  /** Message of the same conversation that this one repeats, because it was not delivered, or perhaps not. */
  repeatsId: string | null;
  senderType: SenderType;
  /** Agent who is shown as the sender; null for a customer's message. */
  senderAgentId: string | null;
  body: string;
  /** Delivery status; null for a customer's message. */
  deliveryStatus: DeliveryStatus | null;
  deliveryError: DeliveryError | null;
  /**
   * Time at which a lost message was sent again or dismissed, or its conversation was closed; null for any
   * other message.
   */
  dismissedAt: Date | null;
  /** Attachments, locations and other content as the provider sent them; null for plain text. */
  metadata: object | null;
  /** Text of before the first edit; null if the message was not edited, or was erased. */
  firstBody: string | null;
  /** Latest texts between the first one and the present one, oldest first; null without any. */
  replacedBodies: string[] | null;
  editedAt: Date | null;
  /** Provider's number of the last edit, by which an older one is known; null without one. */
  editNumber: number | null;
  /** Time at which the customer took the message back, which erased it; null for any other. */
  unsentAt: Date | null;
  /** Emojis with which the customer reacts; null without any. */
  reactions: string[] | null;
  /** Provider's number of the last reaction, by which an older one is known; null without one. */
  reactionNumber: number | null;
  createdAt: Date;
}
