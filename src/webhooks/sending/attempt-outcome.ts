import { errors } from 'undici';
import { AddressRefused, EndpointUrlRefused } from './address-policy';
import { DnsFailure } from './host-resolver';
import { ConnectionFailure } from './vetted-connector';

/**
 * Why an attempt failed. `connection` is whatever broke after the connection stood (reset, not HTTP,
 * too many headers); `status` is any answer outside 2xx that isn't a redirect.
 */
export type AttemptError =
  'timeout' | 'dns' | 'address_refused' | 'connect' | 'tls' | 'connection' | 'redirect' | 'status';

/** In milliseconds; the first three only where the attempt opened a connection. */
export interface AttemptPhases {
  lookupMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  /** From the attempt's start to the answer's head. */
  firstByteMs: number | null;
}

interface Attempt {
  at: Date;
  durationMs: number;
  /** What arrived of the answer's body, at most 16 KiB; null if no answer came. */
  response: Buffer | null;
  phases: AttemptPhases;
}

export interface SucceededAttempt extends Attempt {
  kind: 'succeeded';
  statusCode: number;
  error: null;
  errorMessage: null;
}

export interface FailedAttempt extends Attempt {
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

/** Codes of undici's errors that are ours: a request it can't send, or a sender already closed. */
const OWN_FAULTS = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** What an answer with this status means; null for success. */
export function faultOfStatus(statusCode: number): AttemptFault | null {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400
    ? { error: 'redirect', errorMessage: `Answered ${statusCode}: redirects are not followed` }
    : { error: 'status', errorMessage: `Answered ${statusCode}` };
}

/** The receiver's fault that this error stands for; null if the error is our own. */
export function faultOfError(error: Error): AttemptFault | null {
  if (error instanceof AddressRefused || error instanceof EndpointUrlRefused) {
    return fault('address_refused', error.message);
  }
  if (error instanceof DnsFailure) return fault('dns', error.message);
  if (error instanceof ConnectionFailure) {
    return fault(error.timedOut ? 'timeout' : error.stage === 'tls' ? 'tls' : 'connect', error.message);
  }
  if (error instanceof errors.HTTPParserError) return fault('connection', error.message);
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined || OWN_FAULTS.has(code)) return null;
  // TLS 1.3 lets a receiver refuse us after the handshake: for want of a client certificate, say.
  return fault(code.startsWith('ERR_SSL_') ? 'tls' : 'connection', `${error.message} (${code})`);
}

function fault(error: AttemptError, message: string): AttemptFault {
  return { error, errorMessage: printable(message) };
}

/** Parts of a message can come from the receiver (a certificate's names), and a text column takes no NUL. */
function printable(message: string): string {
  return message.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, MAX_MESSAGE_LENGTH);
}
