import { ApiError, type MessagingError } from './errors.ts';

const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 8_000;
/** Longest time that is added to the service's `Retry-After`, so that many callers do not come at once. */
const MAX_JITTER_MS = 500;

/**
 * Returns the time to wait before a failed attempt is repeated; null if it must not be.
 * @param attempt number of the failed attempt, from 1 on
 * @param isRepeatable whether the request does the same once or twice
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
  // A request over the limit is refused before anything is done.
  if (error.status === 429) return true;
  return isRepeatable && (error.status >= 500 || error.status === 408);
}
