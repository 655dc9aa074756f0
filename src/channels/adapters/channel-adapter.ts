import type { IncomingHttpHeaders } from 'node:http';
import { Channel } from '../../common/channel-descriptors';
import { FetchedFile } from './file-fetcher';
import { FileReference, HookEvent, ProviderFault } from './hook-events';
import type { FileSending, OutboundFile } from './outbound-file';

/** Connection of a workspace to its account at a channel, with decrypted credentials. */
export interface Connection<Credentials extends object = object> {
  id: string;
  tenantId: string;
  channel: Channel;
  /** Provider's id of the phone number, bot, page or Instagram account; the service's own id for a widget. */
  externalId: string;
  /** Random last part of the URL path that the provider calls. */
  hookKey: string;
  credentials: Credentials;
}

export type ConnectionKey = Pick<Connection, 'tenantId' | 'id'>;

export interface OutboundMessage {
  /** Service's id of the message. Some providers repeat it in their events. */
  messageId: string;
  conversationId: string;
  /** Provider's id of the customer. */
  recipientId: string;
  body: string;
}

/** Meaning of a provider's error code in the response to a send request. */
export type Verdict =
  /** A retry after `afterMs` ms may succeed. Until then, the message or the whole connection waits. */
  | { kind: 'RETRY'; afterMs?: number; concerns?: 'message' | 'connection' }
  | { kind: 'TERMINAL' }
  /** The provider accepts no message until the customer writes again. */
  | { kind: 'WINDOW' }
  /** The provider may have delivered the message. */
  | { kind: 'UNKNOWN' }
  /** The provider refuses the credentials. The connection sends nothing until an operator rotates them. */
  | { kind: 'REAUTH' };

/** Verdicts by code (`131047`) or code and subcode (`10/2018278`). The longer key takes precedence. */
export type Verdicts = Readonly<Record<string, Verdict>>;

export const RETRY: Verdict = { kind: 'RETRY' };
export const TERMINAL: Verdict = { kind: 'TERMINAL' };
export const WINDOW: Verdict = { kind: 'WINDOW' };
export const UNKNOWN: Verdict = { kind: 'UNKNOWN' };
export const REAUTH: Verdict = { kind: 'REAUTH' };

export type SendOutcome =
  | {
      kind: 'SENT';
      providerId: string | null;
      /** Provider's ids of the recipient, if they differ from the id in the request. */
      recipientIds?: string[];
    }
  // A retry after UNKNOWN could deliver the message twice.
  | (Verdict & { fault: ProviderFault });

export interface SendLimits {
  /** Maximum number of messages a second over one connection. */
  perSecond: number;
  conversationIntervalMs: number;
}

export interface CheckedCredentials<Credentials extends object = object> {
  externalId: string;
  credentials: Credentials;
  /** Part of the credentials that is not secret. It is shown in lists of connections. */
  settings: Record<string, unknown>;
  /** Values that the operator must enter at the provider, such as a verify token. Shown only once. */
  reveal: Record<string, string>;
  expireAt: Date | null;
}

/** Translates between the service and the API of a channel's provider. No other code knows this API. */
export interface ChannelAdapter<Credentials extends object = object> {
  readonly channel: Channel;
  readonly limits: SendLimits;
  /**
   * Milliseconds for which a message with an UNKNOWN outcome delays the next one of its conversation, so that
   * a receipt can report the outcome. 0 if the channel has no receipts.
   */
  readonly unknownHoldMs: number;
  /** Whether the provider refuses messages that it has accepted, so that only a receipt is a success. */
  readonly refusesLater: boolean;

  /**
   * Validates credentials that an operator has entered, without a call to the provider.
   * @param previous the connection whose credentials are rotated
   * @throws AppError INVALID_BODY
   */
  check(input: unknown, previous?: Connection<Credentials>): CheckedCredentials<Credentials>;

  /**
   * Verifies with a read-only call that the provider accepts the credentials for the account.
   * @throws AppError INVALID_BODY if the provider refuses; UNAVAILABLE if it does not answer
   */
  prove(connection: Connection<Credentials>): Promise<void>;

  /**
   * Registers the hook's URL at the provider, if its API has a call for this.
   * @throws AppError INVALID_BODY if the provider refuses; UNAVAILABLE if it does not answer
   */
  register(connection: Connection<Credentials>, hookUrl: string): Promise<void>;

  /** Removes the hook's URL at the provider, if its API has a call for this. Throws as `register` does. */
  unregister(connection: Connection<Credentials>): Promise<void>;

  /** Makes one attempt to send a message. Never throws: every failure is an outcome. */
  send(connection: Connection<Credentials>, message: OutboundMessage): Promise<SendOutcome>;

  /**
   * Makes one attempt to send a file. Not implemented by a channel that takes a message with its files as a
   * whole. Every failure is an outcome, except errors of `begin` and `open`, which it may throw.
   */
  sendFile?(
    connection: Connection<Credentials>,
    file: OutboundFile,
    sending: FileSending,
  ): Promise<SendOutcome>;
}

export interface HookRequest {
  /** URL that the provider called, with its query. Some providers sign it. */
  url: string;
  headers: IncomingHttpHeaders;
  /** Exact bytes of the body, which signatures cover. */
  rawBody: Buffer;
}

/** Adapter of a channel whose provider calls the service: every channel except WIDGET. */
export interface HookedAdapter<Credentials extends object = object> extends ChannelAdapter<Credentials> {
  /** Returns the secrets with which the provider may sign requests. One valid signature is enough. */
  listSecrets(connection: Connection<Credentials>): string[];

  /** Reports whether a request was signed with this secret. Compares in constant time. */
  verify(secret: string, request: HookRequest): boolean;

  /** Returns the response body for a provider that verifies the hook's URL; null to refuse the request. */
  handshake?(connection: Connection<Credentials>, query: Record<string, unknown>): string | null;

  /**
   * Reads the events of a request whose signature is verified. Leaves out entries of an unknown kind.
   * @throws AppError INVALID_BODY if the body cannot be parsed; PAYLOAD_TOO_LARGE above `maxEvents`
   */
  parse(connection: Connection<Credentials>, request: HookRequest, maxEvents: number): HookEvent[];

  /** Begins to fetch a file of a customer's message. Never throws, except the reason of the signal. */
  fetchFile(
    connection: Connection<Credentials>,
    reference: FileReference,
    signal: AbortSignal,
  ): Promise<FetchOutcome>;
}

/**
 * Outcome of an attempt to fetch a file. GONE: the provider has it no more. TOO_BIG: it does not hand it out
 * for its size. FORBIDDEN: its address is not one of a file, or may not be asked. REAUTH: the provider
 * refuses the credentials. RETRY: a later attempt may succeed.
 */
export type FetchOutcome =
  | FetchedFile
  | { kind: 'GONE' | 'TOO_BIG' | 'FORBIDDEN' | 'REAUTH' }
  | { kind: 'RETRY'; afterMs?: number };
