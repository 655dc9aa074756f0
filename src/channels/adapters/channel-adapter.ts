import type { IncomingHttpHeaders } from 'node:http';
import { Channel } from '../../common/channel';
import { ReceiptStatus } from '../../messages/message-status';

/** A connection with its credentials readable, as an adapter works with it. */
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

/** A reply to be sent. */
export interface OutboundMessage {
  /** Ours: given to providers that hand it back, so that a lost answer can be made up for. */
  messageId: string;
  conversationId: string;
  /** The customer, as the provider knows them. */
  recipientId: string;
  body: string;
}

/** What a provider said about a failure. */
export interface ProviderFault {
  /** The provider's own code, as text; null where it gave none. */
  providerCode: string | null;
  message: string;
}

/** What became of one attempt to send. */
export type SendOutcome =
  | { kind: 'SENT'; providerId: string | null }
  /** Certainly not sent, and worth another try. A `connection` limit holds up all that goes the same way. */
  | { kind: 'RETRY'; fault: ProviderFault; afterMs?: number; concerns?: 'message' | 'connection' }
  /** Certainly not sent, and never will be. */
  | { kind: 'TERMINAL'; fault: ProviderFault }
  /** Only an answer of the customer's opens the way again. */
  | { kind: 'WINDOW'; fault: ProviderFault }
  /** The credentials no longer work. */
  | { kind: 'REAUTH'; fault: ProviderFault }
  /** The request was written, and nobody knows what became of it. Never sent again blindly. */
  | { kind: 'UNKNOWN'; fault: ProviderFault };

/** How fast a provider lets replies come. */
export interface SendLimits {
  /** Messages a second over one connection. */
  perSecond: number;
  /** Between two messages of one conversation; 0 for none. */
  conversationIntervalMs: number;
}

/** What connecting found out and made up. */
export interface CheckedCredentials<Credentials extends object = object> {
  externalId: string;
  credentials: Credentials;
  /** Not secret, shown in lists. */
  settings: Record<string, unknown>;
  /** Shown once to whoever connects: what they need elsewhere, such as a verify token. */
  reveal: Record<string, string>;
  /** When the provider lets the credentials lapse; null for never. */
  expireAt: Date | null;
}

/** One channel: how its replies go out. One file each, beside this one. */
export interface ChannelAdapter<Credentials extends object = object> {
  readonly channel: Channel;
  readonly limits: SendLimits;
  /** How long an UNKNOWN message holds up its conversation, for a receipt that may still come; 0 where none can. */
  readonly unknownHoldMs: number;

  /**
   * Checks what an operator gave as the channel's credentials; asks nobody.
   * @param previous when credentials are rotated: what was there before
   * @throws AppError INVALID_BODY
   */
  check(input: unknown, previous?: Connection<Credentials>): CheckedCredentials<Credentials>;

  /**
   * Makes the provider send to us: asks it whether the credentials work, and registers the address it shall call.
   * @throws AppError INVALID_BODY: the provider refused, and how; UNAVAILABLE: it can't be reached, and where
   */
  register(connection: Connection<Credentials>, hookUrl: string): Promise<void>;

  /** Undoes `register`, as far as the provider has a way. Failures are the provider's: they are thrown. */
  unregister(connection: Connection<Credentials>): Promise<void>;

  /** Makes one attempt. Whatever the provider does is an outcome; it throws nothing. */
  send(connection: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome>;
}

/** A provider's request to one of our hooks. */
export interface HookRequest {
  /** As the provider called it, below PUBLIC_URL, with the query: some providers sign it. */
  url: string;
  headers: IncomingHttpHeaders;
  /** The signed bytes. */
  rawBody: Buffer;
}

/** A channel whose provider calls us. */
export interface HookedAdapter<Credentials extends object = object> extends ChannelAdapter<Credentials> {
  /** Whether a request was signed with this connection's secret. In constant time. */
  verify(connection: Connection<Credentials>, request: HookRequest): boolean;

  /** The answer to a provider that asks whether the address is ours, or null to refuse; absent where none asks. */
  handshake?(connection: Connection<Credentials>, query: Record<string, unknown>): string | null;

  /**
   * The events of a verified request. Leaves out unknown entries.
   * @throws AppError INVALID_BODY when the body cannot be read at all
   */
  parse(connection: Connection<Credentials>, request: HookRequest): InboundEvent[];
}

export type InboundEvent = InboundMessage | InboundReceipt | InboundWatermark | InboundEcho;

interface InboundBase {
  /** Whose account it is about: counts only if that account's connection has signed it. */
  accountId: string;
}

/** A customer has written. */
export interface InboundMessage extends InboundBase {
  kind: 'message';
  /** Each names this message once and for all within the connection; any of them known means it is stored already. */
  providerIds: [string, ...string[]];
  customer: { externalId: string; name: string | null; phone: string | null };
  /** The text, or a plain description of what else it is. */
  body: string;
  /** What the text does not hold, kept as it came: attachments, locations. Null for plain text. */
  metadata: object | null;
}

/** How far one of our messages has come. */
export interface InboundReceipt extends InboundBase {
  kind: 'receipt';
  providerId: string;
  /** Our own id, where the provider hands it back. */
  messageId: string | null;
  status: ReceiptStatus;
  /** For FAILED: what happened. A WINDOW is told from other refusals. */
  fault: (ProviderFault & { kind: 'TERMINAL' | 'WINDOW' }) | null;
}

/** Everything sent to a customer until then has come so far. */
export interface InboundWatermark extends InboundBase {
  kind: 'watermark';
  customerId: string;
  status: 'DELIVERED' | 'READ';
  until: Date;
}

/** The provider shows us a message that our side has sent. */
export interface InboundEcho extends InboundBase {
  kind: 'echo';
  customerId: string;
  providerId: string;
  messageId: string | null;
  body: string | null;
}
