import type { ApiPath, OperationId } from './api-types.ts';
import type { MessagingError } from './errors.ts';
import type { RateLimit } from './rate-limits.ts';

export interface ClientOptions {
  /** Address of the service without `/api/v1`, such as `https://chat.example.com`. */
  baseUrl: string;
  /** API key, `plk_…`. The client sends it to the service only, and never logs it. */
  apiKey: string;
  /** Maximum number of repetitions of a failed request; 4 by default. */
  maxRetries?: number;
  /** Maximum duration of one attempt in milliseconds; 20,000 by default. */
  attemptTimeoutMs?: number;
  /**
   * Maximum duration of a call in milliseconds with all attempts and waits; 90,000 by default. The default is
   * more than a minute, so that a call that exceeded a rate limit can wait until the limit is reset.
   */
  timeoutMs?: number;
  /** Function that sends requests instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** Function that the client calls after each attempt, for logs and metrics. The function must not throw. */
  onAttempt?: (attempt: Attempt) => void;
}

export interface CallOptions {
  /** Signal that aborts the call. An aborted call throws the signal's reason. */
  signal?: AbortSignal;
  /** Maximum duration of the call in milliseconds, instead of the client's `timeoutMs`. */
  timeoutMs?: number;
  /** Request id for the service's logs. Without one, the service creates an id. */
  requestId?: string;
}

/** Settings of a call that creates a row or sends a message. */
export interface CreateOptions extends CallOptions {
  /**
   * Idempotency key; random by default. The service performs requests with equal keys only once in 24 hours.
   * Set a key that names the cause, such as `answer-to-<message id>`, if another process may repeat the call.
   */
  idempotencyKey?: string;
}

/** Report of one attempt. Contains no API key, no body and no query string. */
export interface Attempt {
  operation: OperationId;
  method: string;
  /** Path with placeholders, such as `/api/v1/conversations/{id}`. */
  path: ApiPath;
  /** Number of the attempt within its call, from 1. */
  attempt: number;
  durationMs: number;
  /** HTTP status of the response; null if none arrived. */
  status: number | null;
  requestId: string | null;
  /** Whether the service returned the stored response of an earlier request with this idempotency key. */
  isReplayed: boolean;
  rateLimit: RateLimit | null;
  /** Error of the attempt; null if the attempt succeeded. */
  error: MessagingError | null;
  /** Milliseconds until the next attempt; null if no attempt follows. */
  retryInMs: number | null;
}
