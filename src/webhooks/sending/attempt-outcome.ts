import { FAULTS } from '../../common/fault-texts';
import { Fault, makeFault } from '../../common/error-texts';
import { AddressRefused, EndpointUrlRefused } from '../../outgoing/address-policy';
import { AnswerRefused, MAX_HEAD_KIB } from './http-post';
import { DnsFailure } from '../../outgoing/host-resolver';
import { detailOf, tlsFault } from '../../outgoing/tls-faults';
import { ConnectionFailure } from '../../outgoing/vetted-connector';

/**
 * Classes of failures of an attempt. `connection`: an error on an open connection (reset, not HTTP, too many
 * headers). `status`: a response that is neither 2xx nor a redirect. `internal`: a fault of this service.
 * Positions in this list are stored with the counts of attempts, so add a new class at the end.
 */
export const ATTEMPT_ERRORS = [
  'timeout',
  'dns',
  'address_refused',
  'connect',
  'tls',
  'connection',
  'redirect',
  'status',
  'internal',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** Durations in milliseconds. Lookup, connect and TLS are null when the attempt reused a connection. */
export interface AttemptPhases {
  lookupMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  /** Milliseconds from the attempt's start to the response's headers; null without a response. */
  firstByteMs: number | null;
}

interface Attempt {
  at: Date;
  durationMs: number;
  /** Response body as far as it arrived, at most 16 KiB; null without a response. */
  response: Buffer | null;
  /**
   * Response headers, one `name: value` a line, at most 2 KiB, without cookies, tokens and the like. Null
   * without a response, and for a success whose headers were not requested.
   */
  responseHeaders: string | null;
  phases: AttemptPhases;
}

interface SucceededAttempt extends Attempt {
  kind: 'succeeded';
  statusCode: number;
  error: null;
  errorMessage: null;
}

interface FailedAttempt extends Attempt {
  kind: 'failed';
  statusCode: number | null;
  error: AttemptError;
  errorMessage: string;
}

export type AttemptOutcome = SucceededAttempt | FailedAttempt;

export interface AttemptFault {
  error: AttemptError;
  errorMessage: string;
}

const MAX_MESSAGE_LENGTH = 300;

/** Node's error codes for a request that this service built wrongly. */
const INTERNAL_ERRORS = /^ERR_(HTTP|INVALID|UNESCAPED)_/;

/** Error codes of a process without free files, sockets, ports or memory. */
const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']);

/** Reports whether this process lacked a resource for an attempt. Nothing was sent in this case. */
export function isShortage(error: unknown): boolean {
  const fault = (error instanceof ConnectionFailure ? error.cause : error) as
    | NodeJS.ErrnoException
    | undefined;
  return fault?.code !== undefined && SHORTAGES.has(fault.code);
}

export function internalError(at: Date): FailedAttempt {
  return {
    kind: 'failed',
    at,
    durationMs: Date.now() - at.getTime(),
    response: null,
    responseHeaders: null,
    phases: { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null },
    statusCode: null,
    error: 'internal',
    errorMessage: FAULTS.attempt_internal,
  };
}

/** Returns the failure for an HTTP status; null for a success. */
export function faultOfStatus(statusCode: number): AttemptFault | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400
    ? { error: 'redirect', errorMessage: makeFault('redirected', { status: statusCode }).message }
    : { error: 'status', errorMessage: makeFault('answered', { status: statusCode }).message };
}

/** Returns the failure for an error; null for an error that this process caused. */
export function faultOfError(error: Error): AttemptFault | null {
  if (isShortage(error)) return null;
  if (error instanceof AddressRefused || error instanceof EndpointUrlRefused) {
    return fault('address_refused', error.message);
  }
  if (error instanceof DnsFailure) return fault('dns', error.message);
  if (error instanceof ConnectionFailure) {
    return fault(error.timedOut ? 'timeout' : error.stage === 'tls' ? 'tls' : 'connect', error.message);
  }
  if (error instanceof AnswerRefused) return fault('connection', error.message);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || INTERNAL_ERRORS.test(code)) return null;
  // With TLS 1.3 a receiver may refuse a client, such as one without a certificate, after the handshake.
  if (code.startsWith('ERR_SSL_')) return fault('tls', tlsFault(error).message);
  return fault('connection', brokenBy(error, code).message);
}

function brokenBy(error: Error, code: string): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return makeFault('answer_head_too_long', { max: MAX_HEAD_KIB });
  const detail = `${detailOf(error)}, ${code}`;
  return makeFault(code.startsWith('HPE_') ? 'answer_not_http' : 'connection_broken', { detail });
}

function fault(error: AttemptError, message: string): AttemptFault {
  return { error, errorMessage: printable(message) };
}

/** Replaces control characters by spaces, because receivers send NULs, which PostgreSQL rejects. */
function printable(message: string): string {
  return message.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, MAX_MESSAGE_LENGTH);
}
