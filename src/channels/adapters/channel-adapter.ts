import type { IncomingHttpHeaders } from 'node:http';
import { Channel } from '../../common/channel-descriptors';
import { ReceiptStatus } from '../../messages/message-status';

/** A connection with decrypted credentials. */
export interface Connection<Credentials extends object = object> {
  id: string;
  tenantId: string;
  channel: Channel;
  /** The account at the provider: phone number id, bot id, page id, Instagram account id; for the widget, its own id. */
  externalId: string;
  /** The last, unguessable part of the path that the provider calls. */
  hookKey: string;
  credentials: Credentials;
}

export interface OutboundMessage {
  /** Ours. Some providers return it in events, which settles a message whose response was lost. */
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
  /** Certainly not sent; a retry may work. If it concerns the `connection`, all its messages wait. */
  | { kind: 'RETRY'; fault: ProviderFault; afterMs?: number; concerns?: 'message' | 'connection' }
  /** Certainly not sent; a retry can't work. */
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
  /** Between two messages of one conversation; 0 for none. */
  conversationIntervalMs: number;
}

/** Credentials that `check` accepted, completed by it. */
export interface CheckedCredentials<Credentials extends object = object> {
  externalId: string;
  credentials: Credentials;
  /** Not secret, shown in lists. */
  settings: Record<string, unknown>;
  /** Shown once: values to enter elsewhere, such as a verify token. */
  reveal: Record<string, string>;
  /** Null if they never expire. */
  expireAt: Date | null;
}

/** One channel's provider. Each adapter has a file in this folder. */
export interface ChannelAdapter<Credentials extends object = object> {
  readonly channel: Channel;
  readonly limits: SendLimits;
  /** How long an UNKNOWN message delays its conversation, because a late receipt may settle it. 0 if none can come. */
  readonly unknownHoldMs: number;

  /**
   * Checks an operator's credentials without a call to the provider.
   * @param previous the connection whose credentials are rotated
   * @throws AppError INVALID_BODY
   */
  check(input: unknown, previous?: Connection<Credentials>): CheckedCredentials<Credentials>;

  /**
   * Proves that the credentials work, and registers the hook if the provider has a call for it.
   * @throws AppError INVALID_BODY with the provider's refusal; UNAVAILABLE with the address that can't be reached
   */
  register(connection: Connection<Credentials>, hookUrl: string): Promise<void>;

  /** Undoes `register`, if the provider has a call for it. Throws its refusals. */
  unregister(connection: Connection<Credentials>): Promise<void>;

  /** Makes one attempt. Never throws: every failure is an outcome. */
  send(connection: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome>;
}

/** A provider's request to one of our hooks. */
export interface HookRequest {
  /** The called URL, below PUBLIC_URL, with its query: some providers sign it. */
  url: string;
  headers: IncomingHttpHeaders;
  /** Signatures cover these exact bytes. */
  rawBody: Buffer;
}

/** A channel whose provider calls us. */
export interface HookedAdapter<Credentials extends object = object> extends ChannelAdapter<Credentials> {
  /** The secrets with which the provider signs requests for this connection: one is enough. */
  secretsOf(connection: Connection<Credentials>): string[];

  /** Whether a request was signed with this secret. Compares in constant time. */
  verify(secret: string, request: HookRequest): boolean;

  /** The response to a provider that verifies the hook's address, or null to refuse. Absent if it never verifies. */
  handshake?(connection: Connection<Credentials>, query: Record<string, unknown>): string | null;

  /**
   * The events of a verified request. Leaves out unknown entries.
   * @throws AppError INVALID_BODY when the body can't be parsed; PAYLOAD_TOO_LARGE when it has more events
   */
  parse(connection: Connection<Credentials>, request: HookRequest, maxEvents: number): InboundEvent[];
}

export type InboundEvent = InboundMessage | InboundReceipt | InboundWatermark | InboundEcho;

interface InboundBase {
  /** The provider's account. The event counts only if this account's secret signed the request. */
  accountId: string;
}

/** A message from a customer. */
export interface InboundMessage extends InboundBase {
  kind: 'message';
  /** Each is unique within the connection. If any is known, the message is stored already. */
  providerIds: [string, ...string[]];
  customer: { externalId: string; name: string | null; phone: string | null };
  /** What customers say of themselves beside the text. It fills what their contact does not have. */
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
  /** Our own id, if the provider returns it. */
  messageId: string | null;
  status: ReceiptStatus;
  /** Null unless FAILED. */
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
