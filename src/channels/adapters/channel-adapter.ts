import type { IncomingHttpHeaders } from 'node:http';
import { Channel } from '../../common/channel-descriptors';
import { HookEvent, ProviderFault } from './hook-events';

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

/** Outcome of a request that the provider has refused, by its error code. */
export type Verdict =
  /**
   * The message was not sent, and a retry may work after `afterMs`. If the failure `concerns` the connection,
   * all its messages wait.
   */
  | { kind: 'RETRY'; afterMs?: number; concerns?: 'message' | 'connection' }
  /** The message was not sent, and a retry can't work. */
  | { kind: 'TERMINAL' }
  /** The provider accepts no message until the customer writes again. */
  | { kind: 'WINDOW' }
  /** The provider refuses the credentials. The connection sends nothing until an operator gives new ones. */
  | { kind: 'REAUTH' };

/**
 * Verdicts by error code, such as `131047`, or by code and subcode, such as `10/2018278`, which goes before
 * the bare code.
 */
export type Verdicts = Readonly<Record<string, Verdict>>;

export const RETRY: Verdict = { kind: 'RETRY' };
export const TERMINAL: Verdict = { kind: 'TERMINAL' };
export const WINDOW: Verdict = { kind: 'WINDOW' };
export const REAUTH: Verdict = { kind: 'REAUTH' };

/** Outcome of one attempt to send a message, by `kind`. */
export type SendOutcome =
  | {
      kind: 'SENT';
      providerId: string | null;
      /** Ids by which the provider knows the recipient, if they are others than the one in the request. */
      recipientIds?: string[];
    }
  | (Verdict & { fault: ProviderFault })
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

/** Credentials that `ChannelAdapter.check` has accepted and completed. */
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
