import type { IncomingHttpHeaders } from 'node:http';
import { Channel } from '../../common/channel-descriptors';
import { ReceiptStatus } from '../../messages/message-status';

/** Workspace's connection to an account of a channel, with decrypted credentials. */
export interface Connection<Credentials extends object = object> {
  id: string;
  tenantId: string;
  channel: Channel;
  /**
   * Provider's id of the account: of a phone number, bot, page or Instagram account. For the widget, its own
   * id.
   */
  externalId: string;
  /** Last part of the path that the provider calls. It is random, so that it can't be guessed. */
  hookKey: string;
  credentials: Credentials;
}

/** Names a connection. */
export type ConnectionKey = Pick<Connection, 'tenantId' | 'id'>;

export interface OutboundMessage {
  /**
   * Service's id of the message. Some providers return it in events, which tells the outcome of a message
   * whose answer was lost.
   */
  messageId: string;
  conversationId: string;
  /** Provider's id of the customer who gets the message. */
  recipientId: string;
  body: string;
}

/** Reason of a failure, in the provider's words. */
export interface ProviderFault {
  /** Provider's error code; null without one. */
  providerCode: string | null;
  message: string;
}

/** Outcome of one attempt to send a message, by `kind`. */
export type SendOutcome =
  | {
      kind: 'SENT';
      providerId: string | null;
      /** Ids by which the provider knows the recipient, if they are others than the one in the request. */
      recipientIds?: string[];
    }
  /**
   * The message was not sent, and a retry may work after `afterMs`. If the failure `concerns` the connection,
   * all its messages wait.
   */
  | { kind: 'RETRY'; fault: ProviderFault; afterMs?: number; concerns?: 'message' | 'connection' }
  /** The message was not sent, and a retry can't work. */
  | { kind: 'TERMINAL'; fault: ProviderFault }
  /** The provider accepts no message until the customer writes again. */
  | { kind: 'WINDOW'; fault: ProviderFault }
  /** The provider refuses the credentials. The connection sends nothing until an operator gives new ones. */
  | { kind: 'REAUTH'; fault: ProviderFault }
  /**
   * The request was written, but its outcome is unknown. It is never retried, because the message could
   * arrive twice.
   */
  | { kind: 'UNKNOWN'; fault: ProviderFault };

export interface SendLimits {
  /** Limit of messages a second over one connection. */
  perSecond: number;
  /** Least time in milliseconds between two messages of one conversation. */
  conversationIntervalMs: number;
}

/** Credentials that `ChannelAdapter.check` has accepted and completed, with what follows from them. */
export interface CheckedCredentials<Credentials extends object = object> {
  externalId: string;
  credentials: Credentials;
  /** Part of the credentials that is not secret; lists show it. */
  settings: Record<string, unknown>;
  /**
   * Values that the operator enters at the provider or in a page, such as a verify token. They are shown
   * once.
   */
  reveal: Record<string, string>;
  /** Time at which the credentials expire; null if they never do. */
  expireAt: Date | null;
}

/** Adapter between the service and a channel's provider. Nothing else knows the provider's API. */
export interface ChannelAdapter<Credentials extends object = object> {
  readonly channel: Channel;
  readonly limits: SendLimits;
  /**
   * Milliseconds for which a message with an UNKNOWN outcome holds up its conversation, because a receipt may
   * tell the outcome; 0 if none can come.
   */
  readonly unknownHoldMs: number;

  /**
   * Checks an operator's credentials without a call to the provider.
   * @param previous the connection whose credentials are rotated
   * @throws AppError INVALID_BODY
   */
  check(input: unknown, previous?: Connection<Credentials>): CheckedCredentials<Credentials>;

  /**
   * Proves that the provider takes the credentials for the account, and changes nothing there.
   * @throws AppError INVALID_BODY with the provider's refusal; UNAVAILABLE with the address that it has
   */
  prove(connection: Connection<Credentials>): Promise<void>;

  /**
   * Registers the hook if the provider has a call for it.
   * @throws AppError INVALID_BODY with the provider's refusal; UNAVAILABLE with the address that it has
   */
  register(connection: Connection<Credentials>, hookUrl: string): Promise<void>;

  /** Unregisters the hook, if the provider has a call for it. Throws the provider's refusal. */
  unregister(connection: Connection<Credentials>): Promise<void>;

  /** Makes one attempt to send a message. It never throws: every failure is an outcome. */
  send(connection: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome>;
}

/** Request of a provider to a hook. */
export interface HookRequest {
  /** URL that the provider called, below PUBLIC_URL and with its query: some providers sign it. */
  url: string;
  headers: IncomingHttpHeaders;
  /** Exact bytes of the body, which signatures cover. */
  rawBody: Buffer;
}

/** Adapter of a channel whose provider calls the service. All do but the widget, which has no provider. */
export interface HookedAdapter<Credentials extends object = object> extends ChannelAdapter<Credentials> {
  /**
   * Lists the secrets with which the provider may sign requests for this connection. One valid signature is
   * enough.
   */
  listSecrets(connection: Connection<Credentials>): string[];

  /** Reports whether a request was signed with a secret. Compares in constant time. */
  verify(secret: string, request: HookRequest): boolean;

  /** Returns the text to answer a provider that verifies the hook's address; null to refuse it. */
  handshake?(connection: Connection<Credentials>, query: Record<string, unknown>): string | null;

  /**
   * Reads the events of a request whose signature was verified. Leaves out entries of an unknown kind.
   * @throws AppError INVALID_BODY when the body can't be parsed; PAYLOAD_TOO_LARGE when it has more events
   */
  parse(connection: Connection<Credentials>, request: HookRequest, maxEvents: number): HookEvent[];
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
  /** Time at which the customer sent it, where that tells whose an id was by then. */
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
  /** Message that is stored if the one that it is about is not; null to store none. */
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

/** Returns the one of a customer's ids that changes least: not a phone number, if there is another. */
export function mostLastingId(ids: [string, ...string[]]): string {
  return ids.reduce((one, other) => (one > other ? one : other));
}

/** Returns all of the provider's ids of a message's customer. */
export function customerIdsOf({ customer }: Pick<InboundMessage, 'customer'>): [string, ...string[]] {
  return [customer.externalId, ...(customer.otherIds ?? [])];
}
