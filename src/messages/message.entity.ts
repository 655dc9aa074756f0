import { type DeliveryError, type DeliveryStatus } from '../common/message-status';

export const SENDER_TYPES = ['CUSTOMER', 'AGENT'] as const;
export type SenderType = (typeof SENDER_TYPES)[number];

export interface MessageEntity {
  tenantId: string;
  conversationId: string;
  id: string;
  /** Id of the FAILED or UNKNOWN message of the conversation that this one repeats; null if none. */
  repeatsId: string | null;
  senderType: SenderType;
  /** Agent who is shown as the sender; null for a customer's message. */
  senderAgentId: string | null;
  body: string;
  /** Null for a customer's message. */
  deliveryStatus: DeliveryStatus | null;
  deliveryError: DeliveryError | null;
  /**
   * Time at which a FAILED or UNKNOWN message was repeated or dismissed, or its conversation closed; else
   * null.
   */
  dismissedAt: Date | null;
  /** Attachments, locations and other content as the provider sent them; null for plain text. */
  metadata: object | null;
  /** Text before the first edit; null if the message was never edited, or was erased. */
  firstBody: string | null;
  /** Texts between the first and the present one, oldest first, the latest 20; null if there are none. */
  replacedBodies: string[] | null;
  editedAt: Date | null;
  /** Provider's number of the last edit, or null. An edit with a lower number is older, and is ignored. */
  editNumber: number | null;
  /** Time at which the customer took the message back, which erased it; null for any other message. */
  unsentAt: Date | null;
  /** Emojis of the customer's present reactions; null if there are none. */
  reactions: string[] | null;
  /** Provider's number of the last reaction, or null. One with a lower number is older, and is ignored. */
  reactionNumber: number | null;
  /** Number of attachments, whatever their state. */
  attachmentCount: number;
  /** Whether the body describes the attachments, such as `[image]`, instead of a text of its sender. */
  isDescribed: boolean;
  createdAt: Date;
}
