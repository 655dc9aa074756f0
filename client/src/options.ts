import type { ApiPath, OperationId } from './api-types.ts';
import type { MessagingError } from './errors.ts';
import type { RateLimit } from './rate-limits.ts';

/** Settings of a client. */
export interface ClientOptions {
  /** Address of the service without `/api/v1`, such as `https://chat.example.com`. */
  baseUrl: string;
  /** API key, `plk_…`. It is sent to the service alone, and never logged. */
  apiKey: string;
  /** Number of times that a failed request is repeated: 4 unless given. */
  maxRetries?: number;
  /** Time that one attempt may take: 20 seconds unless given. */
  attemptTimeoutMs?: number;
  /**
   * Time that a call may take with all its attempts and the waits between them: 90 seconds unless given. It
   * outlasts the minute after which a rate limit passes.
   */
  timeoutMs?: number;
  /** Function to send requests with, instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** Function that is told of every attempt, for logs and metrics. It must not throw. */
  onAttempt?: (attempt: Attempt) => void;
}

/** Settings of one call. */
export interface CallOptions {
  /** Signal that ends the call. The call then throws the signal's reason. */
  signal?: AbortSignal;
  /** Time that the call may take, instead of the client's `timeoutMs`. */
  timeoutMs?: number;
  /** Id of the request in the service's logs, instead of one that the service makes. */
  requestId?: string;
}

/** Settings of a call that makes something. */
export interface CreateOptions extends CallOptions {
  /**
   * Key under which the service does the request once in 24 hours, however often it is sent: a random one
   * unless given. Give one that names the occasion, such as `answer-to-<message id>`, and the same call is
   * safe in another process, too.
   */
  idempotencyKey?: string;
}

/** Report of one attempt. It has no key, no body and no query string. */
export interface Attempt {
  operation: OperationId;
  method: string;
  /** Path with the names of its parameters. */
  path: ApiPath;
  /** Number of the attempt, from 1 on. */
  attempt: number;
  durationMs: number;
  /** Status of the answer; null if none arrived. */
  status: number | null;
  requestId: string | null;
  /** Whether the answer is the first one again, because an attempt before had succeeded. */
  isReplayed: boolean;
  rateLimit: RateLimit | null;
  /** Error of the attempt; null if it succeeded. */
  error: MessagingError | null;
  /** Wait before the next attempt; null if there is none. */
  retryInMs: number | null;
}
