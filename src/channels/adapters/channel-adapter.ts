import type { IncomingHttpHeaders } from 'node:http';
import { Channel } from '../../common/channel-descriptors';
import { HookEvent, ProviderFault } from './hook-events';

/** Connection of a workspace to its account at a channel, with decrypted credentials. */
export interface Connection<Credentials extends object = object> {
  id: string;
  tenantId: string;
  channel: Channel;
  /**
   * Provider's id of the account: of a phone number, bot, page or Instagram account. The service makes this
   * id for a widget, which has no provider.
   */
  externalId: string;
  /** Last part of the URL path that the provider calls. It is random, so that strangers cannot guess it. */
  hookKey: string;
  credentials: Credentials;
}

export type ConnectionKey = Pick<Connection, 'tenantId' | 'id'>;

export interface OutboundMessage {
  /**
   * Id of the message in this service. Some providers repeat it in later events. Such an event shows the
   * outcome even if the response to the send request was lost.
   */
  messageId: string;
  conversationId: string;
  /** Provider's id of the customer who receives the message. */
  recipientId: string;
  body: string;
}

/** Meaning of a provider's error code in the response to a send request. */
export type Verdict =
  /**
   * The message was not sent, and a retry after `afterMs` milliseconds may succeed. If `concerns` is
   * `connection`, all messages of the connection wait.
   */
  | { kind: 'RETRY'; afterMs?: number; concerns?: 'message' | 'connection' }
  /** The message was not sent, and a retry cannot succeed. */
  | { kind: 'TERMINAL' }
  /** The provider accepts no message until the customer writes again. */
  | { kind: 'WINDOW' }
  /**
   * The provider refuses the credentials. The connection sends nothing until an operator enters new
   * credentials.
   */
  | { kind: 'REAUTH' };

/**
 * Verdicts by error code, such as `131047`, or by code and subcode, such as `10/2018278`. An entry with a
 * subcode overrides the entry of its code.
 */
export type Verdicts = Readonly<Record<string, Verdict>>;

export const RETRY: Verdict = { kind: 'RETRY' };
export const TERMINAL: Verdict = { kind: 'TERMINAL' };
export const WINDOW: Verdict = { kind: 'WINDOW' };
export const REAUTH: Verdict = { kind: 'REAUTH' };

export type SendOutcome =
  | {
      kind: 'SENT';
      providerId: string | null;
      /** Provider's ids of the recipient; set only if they differ from the id in the request. */
      recipientIds?: string[];
    }
  | (Verdict & { fault: ProviderFault })
  /**
   * The request was written, but its outcome is unknown. The service never retries it, because the message
   * could arrive twice.
   */
  | { kind: 'UNKNOWN'; fault: ProviderFault };

export interface SendLimits {
  /** Maximum number of messages a second over one connection. */
  perSecond: number;
  /** Minimum number of milliseconds between two messages of one conversation. */
  conversationIntervalMs: number;
}

/** Credentials that `ChannelAdapter.check` has accepted, with the values that it has added. */
export interface CheckedCredentials<Credentials extends object = object> {
  externalId: string;
  credentials: Credentials;
  /** Part of the credentials that is not secret; lists of connections show it. */
  settings: Record<string, unknown>;
  /**
   * Values that the operator must enter at the provider or in a web page, such as a verify token. The service
   * shows them once.
   */
  reveal: Record<string, string>;
  expireAt: Date | null;
}

/** Translates between the service and the API of a channel's provider. No other code knows this API. */
export interface ChannelAdapter<Credentials extends object = object> {
  readonly channel: Channel;
  readonly limits: SendLimits;
  /**
   * Milliseconds for which a message with an UNKNOWN outcome blocks later messages of its conversation,
   * because a receipt may show the outcome. 0 if the channel has no receipts.
   */
  readonly unknownHoldMs: number;

  /**
   * Validates the credentials that an operator has entered, without a call to the provider.
   *
   * @param previous the connection whose credentials are rotated
   * @throws AppError INVALID_BODY
   */
  check(input: unknown, previous?: Connection<Credentials>): CheckedCredentials<Credentials>;

  /**
   * Verifies with a read-only call that the provider accepts the credentials for the account.
   *
   * @throws AppError INVALID_BODY with the provider's refusal; UNAVAILABLE, naming the provider's address, if
   * it does not answer
   */
  prove(connection: Connection<Credentials>): Promise<void>;

  /**
   * Registers the hook's URL at the provider, if its API has a call for this.
   *
   * @throws AppError INVALID_BODY with the provider's refusal; UNAVAILABLE, naming the provider's address, if
   * it does not answer
   */
  register(connection: Connection<Credentials>, hookUrl: string): Promise<void>;

  /**
   * Removes the hook's URL at the provider, if its API has a call for this.
   *
   * @throws AppError INVALID_BODY with the provider's refusal; UNAVAILABLE if the provider does not answer
   */
  unregister(connection: Connection<Credentials>): Promise<void>;

  /** Makes one attempt to send a message. Never throws: every failure is an outcome. */
  send(connection: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome>;
}

export interface HookRequest {
  /**
   * URL that the provider called, below PUBLIC_URL and including the query, because some providers sign the
   * URL.
   */
  url: string;
  headers: IncomingHttpHeaders;
  /** Exact bytes of the body, which signatures cover. */
  rawBody: Buffer;
}

/**
 * Adapter of a channel whose provider calls the service: of every channel except the widget, which has no
 * provider.
 */
export interface HookedAdapter<Credentials extends object = object> extends ChannelAdapter<Credentials> {
  /**
   * Returns the secrets with which the provider may sign requests for this connection. A request is accepted
   * if it is signed with one of them.
   */
  listSecrets(connection: Connection<Credentials>): string[];

  /** Reports whether a request was signed with this secret. Compares in constant time. */
  verify(secret: string, request: HookRequest): boolean;

  /**
   * Returns the response body for a provider that verifies the hook's URL; null if the request must be
   * refused.
   */
  handshake?(connection: Connection<Credentials>, query: Record<string, unknown>): string | null;

  /**
   * Reads the events of a request whose signature is verified. Leaves out entries of an unknown kind.
   *
   * @throws AppError INVALID_BODY if the body cannot be parsed; PAYLOAD_TOO_LARGE if it has more than
   * `maxEvents` events
   */
  parse(connection: Connection<Credentials>, request: HookRequest, maxEvents: number): HookEvent[];
}
