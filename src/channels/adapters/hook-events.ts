import { ReceiptStatus } from '../../messages/message-status';

/** Reason of a failure, in the provider's words. */
export interface ProviderFault {
  /** Null if the provider gives no code. */
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

/**
 * Event in a provider's request. The service logs how many messages of groups arrive, but does not store
 * them.
 */
export type HookEvent = InboundEvent | InboundGroupMessage;

/** Change that a customer makes to a message that was sent before. */
export type InboundChange = InboundEdit | InboundUnsend | InboundReaction;

interface InboundBase {
  /**
   * Provider's id of the account. The service ignores the event unless this account's secret signed the
   * request.
   */
  accountId: string;
}

export interface InboundMessage extends InboundBase {
  kind: 'message';
  /**
   * Provider's ids of the message, unique within the connection. If one of them is stored, the message is a
   * repetition.
   */
  providerIds: [string, ...string[]];
  customer: {
    /** Provider's id of the customer to which the service sends replies. */
    externalId: string;
    /** Further ids of the customer, if the provider names several. */
    otherIds?: string[];
    name: string | null;
    phone: string | null;
  };
  /**
   * Time at which the customer sent the message. Set on channels whose ids can pass to another person, to
   * find the person who owned the id at that time.
   */
  at?: Date;
  /**
   * Name and e-mail address that the customer has entered, unverified. The service stores them in empty
   * fields of the contact.
   */
  claimed?: { name?: string; email?: string };
  /** Text of the message, or a description of other content, such as `[image]`. */
  body: string;
  /** Provider's data that the body does not show, such as attachments or a location; null for plain text. */
  metadata: object | null;
}

interface InboundChangeBase extends InboundBase {
  /** Provider's ids of the customer who made the change. */
  customerIds: [string, ...string[]];
  /** Provider's id of the message that was changed. */
  providerId: string;
}

export interface InboundEdit extends InboundChangeBase, Pick<InboundMessage, 'body' | 'metadata'> {
  kind: 'edit';
  /** Number that is higher for a later edit of the same message; null if the provider gives none. */
  number: number | null;
}

export interface InboundUnsend extends InboundChangeBase {
  kind: 'unsend';
}

/** Report of all present reactions of a customer to a message. */
export interface InboundReaction extends InboundChangeBase {
  kind: 'reaction';
  /**
   * Emojis, or the provider's names for reactions without an emoji. Empty if the customer has removed all
   * reactions.
   */
  emojis: string[];
  /** Number that is higher for a later reaction to the same message; null if the provider gives none. */
  number: number | null;
  /** Message to store if the reaction is about an unknown message; null to store none. */
  message: InboundMessage | null;
}

/** Ids of one customer that the provider has reported together, without a message. */
export interface InboundIds extends InboundBase {
  kind: 'ids';
  /** Present ids of the customer. The service sends replies to the first. */
  ids: [string, ...string[]];
  /** Former ids of the customer; empty if none has changed. */
  previousIds: string[];
  phone: string | null;
  /** Time of the change of ids. */
  at: Date;
}

export interface InboundGroupMessage extends InboundBase {
  kind: 'group';
}

/** Report that one outbound message has a new status. */
export interface InboundReceipt extends InboundBase {
  kind: 'receipt';
  providerId: string;
  /**
   * Id of the message in this service, as the provider repeats it; null if the provider does not repeat it.
   * The value is not validated and can be any text.
   */
  messageId: string | null;
  status: ReceiptStatus;
  /** Ids of the customer who receives the message, if the provider names several. */
  recipientIds?: string[];
  /** Reason of the status FAILED; null with any other status. */
  fault: (ProviderFault & { kind: 'TERMINAL' | 'WINDOW' }) | null;
}

/** Report that all messages sent to a customer before a certain time have a new status. */
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

/**
 * Returns the id of a customer that is least likely to change: a phone number only if there is no other id.
 * Ids that are not phone numbers sort after digits.
 */
export function mostLastingId(ids: [string, ...string[]]): string {
  return ids.reduce((one, other) => (one > other ? one : other));
}

export function customerIdsOf({ customer }: Pick<InboundMessage, 'customer'>): [string, ...string[]] {
  return [customer.externalId, ...(customer.otherIds ?? [])];
}
