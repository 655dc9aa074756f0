import type { IncomingHttpHeaders } from 'node:http';
import { Channel } from '../../common/channel-descriptors';
import { ReceiptStatus } from '../../messages/message-status';

/** A connection with decrypted credentials. */
export interface Connection<Credentials extends object = object> {
  id: string;
  tenantId: string;
  channel: Channel;
  /**
   * The account at the provider: id of a phone number, bot, page or Instagram account; the widget's own id.
   */
  externalId: string;
  /** The last, unguessable part of the path that the provider calls. */
  hookKey: string;
  credentials: Credentials;
}

export interface OutboundMessage {
  /** The service's id. Some providers return it in events, which settles a message whose answer was lost. */
  messageId: string;
  conversationId: string;
  /** The provider's id of the customer. */
  recipientId: string;
  body: string;
}

/** A failure in the provider's words. */
export interface ProviderFault {
  /** The provider's own code, or null without one. */
  providerCode: string | null;
  message: string;
}

/** The outcome of one attempt. */
export type SendOutcome =
  | { kind: 'SENT'; providerId: string | null }
  /** The message was not sent, and a retry may work. With `connection`, all messages of it wait. */
  | { kind: 'RETRY'; fault: ProviderFault; afterMs?: number; concerns?: 'message' | 'connection' }
  /** The message was not sent, and a retry can't work. */
  | { kind: 'TERMINAL'; fault: ProviderFault }
  /** The provider accepts no message until the customer writes again. */
  | { kind: 'WINDOW'; fault: ProviderFault }
  /** The credentials no longer work. */
  | { kind: 'REAUTH'; fault: ProviderFault }
  /** The request was written, but its outcome is unknown. Never retried: that could send it twice. */
  | { kind: 'UNKNOWN'; fault: ProviderFault };

export interface SendLimits {
  /** Messages a second over one connection. */
  perSecond: number;
  /** Time between two messages of one conversation. */
  conversationIntervalMs: number;
}

/** Credentials that `check` accepted, completed by it. */
export interface CheckedCredentials<Credentials extends object = object> {
  externalId: string;
  credentials: Credentials;
  /** The part that is not secret, shown in lists. */
  settings: Record<string, unknown>;
  /** Values that the operator enters elsewhere, such as a verify token. They are shown once. */
  reveal: Record<string, string>;
  /** The end of the credentials, or null if they never expire. */
  expireAt: Date | null;
}

/** The one place that knows a channel's provider. */
export interface ChannelAdapter<Credentials extends object = object> {
  readonly channel: Channel;
  readonly limits: SendLimits;
  /**
   * Time that an UNKNOWN message holds up its conversation, as a receipt may settle it; 0 if none can come.
   */
  readonly unknownHoldMs: number;

  /**
   * Checks an operator's credentials without a call to the provider.
   * @param previous the connection whose credentials are rotated
   * @throws AppError INVALID_BODY
   */
  check(input: unknown, previous?: Connection<Credentials>): CheckedCredentials<Credentials>;

  /**
   * Proves that the credentials work, and registers the hook if the provider has a call for it.
   * @throws AppError INVALID_BODY with the provider's refusal; UNAVAILABLE with the address that it has
   */
  register(connection: Connection<Credentials>, hookUrl: string): Promise<void>;

  /** Undoes `register`, if the provider has a call for it. Throws its refusals. */
  unregister(connection: Connection<Credentials>): Promise<void>;

  /** Makes one attempt. Never throws: every failure is an outcome. */
  send(connection: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome>;
}

/** A provider's request to a hook. */
export interface HookRequest {
  /** The called URL, below PUBLIC_URL, with its query: some providers sign it. */
  url: string;
  headers: IncomingHttpHeaders;
  /** The body's exact bytes, which signatures cover. */
  rawBody: Buffer;
}

/** The adapter of a channel whose provider calls the service. */
export interface HookedAdapter<Credentials extends object = object> extends ChannelAdapter<Credentials> {
  /** Lists the secrets with which the provider may sign requests for this connection: one is enough. */
  listSecrets(connection: Connection<Credentials>): string[];

  /** Reports whether a request was signed with this secret. Compares in constant time. */
  verify(secret: string, request: HookRequest): boolean;

  /** Returns the answer to a provider that verifies the hook's address, or null to refuse it. */
  handshake?(connection: Connection<Credentials>, query: Record<string, unknown>): string | null;

  /**
   * Reads the events of a verified request. Leaves out unknown entries.
   * @throws AppError INVALID_BODY when the body can't be parsed; PAYLOAD_TOO_LARGE when it has more events
   */
  parse(connection: Connection<Credentials>, request: HookRequest, maxEvents: number): InboundEvent[];
}

export type InboundEvent = InboundMessage | InboundReceipt | InboundWatermark | InboundEcho;

interface InboundBase {
  /** The account at the provider. The event counts only if this account's secret signed the request. */
  accountId: string;
}

/** A message from a customer. */
export interface InboundMessage extends InboundBase {
  kind: 'message';
  /** Ids that are unique within the connection. If any is known, the message is stored already. */
  providerIds: [string, ...string[]];
  customer: { externalId: string; name: string | null; phone: string | null };
  /** Facts that customers give beside the text. They fill what their contact does not have. */
  claimed?: { name?: string; email?: string };
  /** The text, or a description of other content. */
  body: string;
  /** The provider's data beside the text: attachments, locations. Null for plain text. */
  metadata: object | null;
}

/** A new status of one outbound message. */
export interface InboundReceipt extends InboundBase {
  kind: 'receipt';
  providerId: string;
  /** The service's id of the message, if the provider returns it. */
  messageId: string | null;
  status: ReceiptStatus;
  /** The reason of a FAILED message; null for the others. */
  fault: (ProviderFault & { kind: 'TERMINAL' | 'WINDOW' }) | null;
}

/** A new status of all messages sent to a customer until a moment. */
export interface InboundWatermark extends InboundBase {
  kind: 'watermark';
  customerId: string;
  status: 'DELIVERED' | 'READ';
  until: Date;
}

/** A message that the account sent, from this service or elsewhere. */
export interface InboundEcho extends InboundBase {
  kind: 'echo';
  customerId: string;
  providerId: string;
  messageId: string | null;
  body: string | null;
}
