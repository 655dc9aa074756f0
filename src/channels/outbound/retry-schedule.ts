import { backoffMs, FIRST_DELAY_MS } from '../../common/backoff';

/** The first attempt and seven retries: four minutes, which most outages of a provider are over in. */
export const MAX_ATTEMPTS = 8;

/** Whatever a provider asks for: longer waits nobody would remember the reason of. */
const MAX_DELAY_MS = 24 * 60 * 60 * 1000;

/**
 * How long to wait after `failedAttempts` attempts have failed: 2, 4, 8 … 128 seconds and up to 10 % more, or longer
 * when the provider asks for it; null once no attempt is left.
 */
export function retryDelayMs(failedAttempts: number, askedForMs = 0, random?: () => number): number | null {
  if (failedAttempts >= MAX_ATTEMPTS) return null;
  return backoffMs(failedAttempts, Math.min(askedForMs, MAX_DELAY_MS), random);
}

/** How long a provider that has had enough is left alone: as it asks for, however often the present message has failed. */
export function pauseMs(askedForMs = 0): number {
  return Math.min(Math.max(askedForMs, FIRST_DELAY_MS), MAX_DELAY_MS);
}
