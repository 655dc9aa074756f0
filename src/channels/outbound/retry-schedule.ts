import { backoffMs, FIRST_DELAY_MS } from '../../common/backoff';

/**
 * Limit of attempts of a message. Seven retries take four minutes, longer than most outages of a provider.
 */
export const MAX_MESSAGE_ATTEMPTS = 8;

/** Limit of a delay that a provider asks for. */
const MAX_DELAY_MS = 24 * 60 * 60 * 1000;

/**
 * Returns the delay after `failedAttempts` failed attempts: 2, 4, 8 … 128 seconds plus up to 10 %, or longer
 * when the provider asks for it; null when no attempt is left.
 */
export function messageRetryDelayMs(
  failedAttempts: number,
  requestedMs = 0,
  random?: () => number,
): number | null {
  if (failedAttempts >= MAX_MESSAGE_ATTEMPTS) return null;
  return backoffMs(failedAttempts, Math.min(requestedMs, MAX_DELAY_MS), random);
}

/**
 * Returns how long a throttled connection pauses: as the provider asks, however often the message has failed.
 */
export function pauseMs(requestedMs = 0): number {
  return Math.min(Math.max(requestedMs, FIRST_DELAY_MS), MAX_DELAY_MS);
}
