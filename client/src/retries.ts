import { ApiError, type MessagingError } from './errors.ts';

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;
/** Limit of the random delay that is added to `Retry-After`, so that many clients do not retry at once. */
const MAX_JITTER_MS = 500;

/**
 * Returns the milliseconds until a failed attempt is repeated; null if it must not be repeated.
 * @param attempt number of the failed attempt, from 1
 * @param isRepeatable whether sending the request twice has the effect of sending it once
 */
export function retryDelayMs(error: MessagingError, attempt: number, isRepeatable: boolean): number | null {
  if (!isRetryable(error, isRepeatable)) return null;
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : null;
  if (retryAfterMs !== null) return retryAfterMs + Math.random() * MAX_JITTER_MS;
  const backoffMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (attempt - 1));
  return backoffMs * (0.5 + Math.random() / 2);
}

function isRetryable(error: MessagingError, isRepeatable: boolean): boolean {
  if (!(error instanceof ApiError)) return isRepeatable;
  // With 429 the service refuses the request before it does anything, so every request can be repeated.
  if (error.status === 429) return true;
  return isRepeatable && (error.status >= 500 || error.status === 408);
}
