import { ReceiptStatus } from '../../messages/message-status';

export interface ProviderFault {
  providerCode: string | null;
  message: string;
}

export type InboundEvent =
  | InboundMessage
  | InboundChange
  | InboundIds
  | InboundReceipt
  | InboundWatermark
  | InboundEcho;

/** Event in a provider's request. Messages of groups are counted in the log and not stored. */
export type HookEvent = InboundEvent | InboundGroupMessage;

/** Change that a customer makes to a message that was sent before. */
export type InboundChange = InboundEdit | InboundUnsend | InboundReaction;

interface InboundBase {
  /** Provider's id of the account. The event is ignored unless this account's secret signed the request. */
  accountId: string;
}

export interface InboundMessage extends InboundBase {
  kind: 'message';
  /** Provider's ids of the message, unique within the connection. If one is stored, so is the message. */
  providerIds: [string, ...string[]];
  customer: {
    /** Provider's id of the customer, to which replies are sent. */
    externalId: string;
    /** Further ids of the customer, if the provider names several. */
    otherIds?: string[];
    name: string | null;
    phone: string | null;
  };
  /**
   * Time at which the customer sent the message. Set if ids can change owners, as phone numbers do: the
   * sender is the owner at that time.
   */
  at?: Date;
  /** Unverified input of the customer. It fills empty fields of the contact. */
  claimed?: { name?: string; email?: string };
  /** Text of the message, or a description of other content, such as `[image]`. */
  body: string;
  /** Provider's data that the body leaves out, such as attachments; null for plain text. */
  metadata: object | null;
}

interface InboundChangeBase extends InboundBase {
  customerIds: [string, ...string[]];
  /** Provider's id of the message that was changed. */
  providerId: string;
}

export interface InboundEdit extends InboundChangeBase, Pick<InboundMessage, 'body' | 'metadata'> {
  kind: 'edit';
  /** Higher for a later edit of the same message; null if the provider gives no number. */
  number: number | null;
}

export interface InboundUnsend extends InboundChangeBase {
  kind: 'unsend';
}

/** Report of all present reactions of a customer to a message. */
export interface InboundReaction extends InboundChangeBase {
  kind: 'reaction';
  /** Emojis, or the provider's names for reactions without one. Empty if all were removed. */
  emojis: string[];
  /** Higher for a later reaction to the same message; null if the provider gives no number. */
  number: number | null;
  /** Message to store if the reaction is to an unknown message; null to store none. */
  message: InboundMessage | null;
}

/** Ids of one customer that the provider has reported together, without a message. */
export interface InboundIds extends InboundBase {
  kind: 'ids';
  /** Present ids. Replies are sent to the first. */
  ids: [string, ...string[]];
  previousIds: string[];
  phone: string | null;
  at: Date;
}

export interface InboundGroupMessage extends InboundBase {
  kind: 'group';
}

export interface InboundReceipt extends InboundBase {
  kind: 'receipt';
  providerId: string;
  /** Service's id of the message, as the provider repeats it. Not validated: it can be any text. */
  messageId: string | null;
  status: ReceiptStatus;
  /** Ids of the customer who receives the message, if the provider names several. */
  recipientIds?: string[];
  /** Reason of the status FAILED; null with any other status. */
  fault: (ProviderFault & { kind: 'TERMINAL' | 'WINDOW' }) | null;
}

/** Report that all messages sent to a customer up to a certain time have a new status. */
export interface InboundWatermark extends InboundBase {
  kind: 'watermark';
  customerId: string;
  status: 'DELIVERED' | 'READ';
  until: Date;
}

/** Report of a message that the account sent, from this service or from the provider's own inbox. */
export interface InboundEcho extends InboundBase {
  kind: 'echo';
  customerId: string;
  providerId: string;
  messageId: string | null;
  body: string | null;
}

/** Returns the id least likely to change. Digits sort before letters, so a phone number is chosen last. */
export function mostLastingId(ids: [string, ...string[]]): string {
  return ids.reduce((one, other) => (one > other ? one : other));
}

export function customerIdsOf({ customer }: Pick<InboundMessage, 'customer'>): [string, ...string[]] {
  return [customer.externalId, ...(customer.otherIds ?? [])];
}
