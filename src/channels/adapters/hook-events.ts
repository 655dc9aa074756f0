import { FileKind } from '../../common/file-limits';
import { AttachUpload } from '../../attachments/attachment.dto';
import { ReceiptStatus } from '../../common/message-status';

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

/**
 * Value by which a provider hands out a file: its id at the provider, or a signed address. It is a secret, as
 * an address alone opens the file.
 */
export interface FileReference {
  id?: string;
  url?: string;
  /** SHA-256 of the bytes in hex, if the provider names it. */
  sha256?: string;
  /** Duration of audio or video, if the provider names it. */
  durationMs?: number;
}

/** File of a customer's message, with the facts that the sender or the provider claims. */
export interface InboundFile {
  kind: FileKind;
  name: string | null;
  contentType: string | null;
  size: number | null;
  /** Null if the provider says that the file cannot be had. */
  reference: FileReference | null;
  /** Reason why the file cannot be had, if the provider names it. */
  problem?: 'TOO_BIG';
}

interface InboundBase {
  /** Provider's id of the account. The event is ignored unless this account's secret signed the request. */
  accountId: string;
}

export interface InboundMessage extends InboundBase {
  kind: 'message';
  /** Provider's ids of the message, unique in the connection. If one is stored, the message is known. */
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
   * Time at which the customer sent the message. Set only if an id of the customer, such as a phone number,
   * can pass to another person. The time then shows which person used the id.
   */
  at?: Date;
  /** Unverified input of the customer. It fills empty fields of the contact. */
  claimed?: { name?: string; email?: string };
  /** Text of the message, or a description of other content, such as `[image]`. Empty for uploads alone. */
  body: string;
  /** Uploads that the message takes; missing for a message of a provider. */
  uploads?: CustomerUploads;
  /** Provider's data that the body leaves out, without addresses of files; null for plain text. */
  metadata: object | null;
  /** Files of the message; left out if it has none. The body then describes them. */
  files?: InboundFile[];
  /** Text that the customer wrote to the files; null if there is none. */
  caption?: string | null;
}

/** Uploads of a customer to this service, and the uploader's id. */
export interface CustomerUploads {
  uploader: string;
  attachments: AttachUpload[];
}

interface InboundChangeBase extends InboundBase {
  customerIds: [string, ...string[]];
  /** Provider's id of the message that was changed. */
  providerId: string;
}

export interface InboundEdit extends InboundChangeBase, Pick<InboundMessage, 'body' | 'metadata'> {
  kind: 'edit';
  /** Text that the customer now has beside the message's file, or null; missing if the edit names no file. */
  caption?: string | null;
  /** Number that is higher for a newer edit of the message; null if the provider gives none. */
  number: number | null;
}

export interface InboundUnsend extends InboundChangeBase {
  kind: 'unsend';
}

/** All reactions that a customer now has on a message. They replace the reactions reported before. */
export interface InboundReaction extends InboundChangeBase {
  kind: 'reaction';
  /** Emojis; for a reaction without an emoji, the provider's name. Empty if the customer removed all. */
  emojis: string[];
  /** Number that is higher for a newer reaction to the message; null if the provider gives none. */
  number: number | null;
  /** Message to store if the reaction is to an unknown message; null to store none. */
  message: InboundMessage | null;
}

/** Ids of one customer that the provider has reported together, without a message. */
export interface InboundIds extends InboundBase {
  kind: 'ids';
  /** Ids that the customer has now. Replies are sent to the first. */
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
  /** Reason why the message failed; null if the status is not FAILED. */
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
  /** Time at which the account sent the message; null if the provider names no valid time. */
  at: Date | null;
}

/** Returns the last id in sort order. Phone numbers, which can change, sort before ids with letters. */
export function mostLastingId(ids: [string, ...string[]]): string {
  return ids.reduce((one, other) => (one > other ? one : other));
}

export function customerIdsOf({ customer }: Pick<InboundMessage, 'customer'>): [string, ...string[]] {
  return [customer.externalId, ...(customer.otherIds ?? [])];
}
