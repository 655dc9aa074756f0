import { ReceiptStatus } from '../../messages/message-status';

/** Reason of a failure, in the provider's words. */
export interface ProviderFault {
  /** Provider's error code; null without one. */
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

/** Event of a hook's request. Messages of groups are not stored. */
export type HookEvent = InboundEvent | InboundGroupMessage;

/** Change that a customer makes after the message was sent. */
export type InboundChange = InboundEdit | InboundUnsend | InboundReaction;

interface InboundBase {
  /** Provider's id of the account. The event counts only if this account's secret signed the request. */
  accountId: string;
}

/** Message from a customer. */
export interface InboundMessage extends InboundBase {
  kind: 'message';
  /**
   * Provider's ids of the message, unique within the connection. If one of them is known, the message is
   * stored already.
   */
  providerIds: [string, ...string[]];
  customer: {
    /** Provider's id of the customer, to which answers go. */
    externalId: string;
    /** Other ids of the customer that the provider has named. */
    otherIds?: string[];
    name: string | null;
    phone: string | null;
  };
  /** Time at which the customer sent it, if the owner of an id at that time is known by it. */
  at?: Date;
  /**
   * Name and e-mail address that the customer has given, unverified. They fill empty fields of the contact.
   */
  claimed?: { name?: string; email?: string };
  /** Text of the message, or a description of other content, such as `[image]`. */
  body: string;
  /** Provider's data beside the text, such as attachments or a location; null for plain text. */
  metadata: object | null;
}

interface InboundChangeBase extends InboundBase {
  /** Provider's ids of the customer who made the change. */
  customerIds: [string, ...string[]];
  /** Provider's id of the message that the change is about. */
  providerId: string;
}

/** Report that a customer has edited a message of theirs. */
export interface InboundEdit extends InboundChangeBase, Pick<InboundMessage, 'body' | 'metadata'> {
  kind: 'edit';
  /** Number that is higher for a later edit of the same message; null if the provider gives none. */
  number: number | null;
}

/** Report that a customer has unsent a message of theirs. */
export interface InboundUnsend extends InboundChangeBase {
  kind: 'unsend';
}

/** Report of all reactions that a customer has to a message now. */
export interface InboundReaction extends InboundChangeBase {
  kind: 'reaction';
  /** Emojis, or the provider's names of reactions that have none. Empty when they were taken back. */
  emojis: string[];
  /** Number that is higher for a later reaction to the same message; null if the provider gives none. */
  number: number | null;
  /** Message to store if the reaction is about an unknown message; null to store none. */
  message: InboundMessage | null;
}

/** Ids of one customer that the provider has named together, without a message. */
export interface InboundIds extends InboundBase {
  kind: 'ids';
  /** Ids that the customer has, the one first to which answers go. */
  ids: [string, ...string[]];
  /** Ids that the customer had before; empty if none has changed. */
  previousIds: string[];
  phone: string | null;
  /** Time of the change. */
  at: Date;
}

/** Message of a group, which is not stored. */
export interface InboundGroupMessage extends InboundBase {
  kind: 'group';
}

/** Report that one outbound message has a new status. */
export interface InboundReceipt extends InboundBase {
  kind: 'receipt';
  providerId: string;
  /** Service's id of the message as the provider returns it, which may be any text; null without one. */
  messageId: string | null;
  status: ReceiptStatus;
  /** Ids of the customer who gets the message, if the provider names several. */
  recipientIds?: string[];
  /** Reason why the message FAILED; null with any other status. */
  fault: (ProviderFault & { kind: 'TERMINAL' | 'WINDOW' }) | null;
}

/** Report that all messages sent to a customer until a moment have a new status. */
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

/** Returns the id of a customer that changes least: not a phone number, if there is another id. */
export function mostLastingId(ids: [string, ...string[]]): string {
  return ids.reduce((one, other) => (one > other ? one : other));
}

/** Returns all of the provider's ids of a message's customer. */
export function customerIdsOf({ customer }: Pick<InboundMessage, 'customer'>): [string, ...string[]] {
  return [customer.externalId, ...(customer.otherIds ?? [])];
}
