import { backoffMs } from '../../common/backoff';
import { isTest } from '../../outbox/event-catalog';

/** Number of attempts of a delivery: the first one, and the contract's five retries. */
export const MAX_DELIVERY_ATTEMPTS = 6;

/**
 * Returns the wait after `failedAttempts` failed attempts: 2, 4, 8, 16 or 32 seconds and up to 10 % more;
 * null when no attempt is left.
 */
export function deliveryRetryDelayMs(failedAttempts: number, random?: () => number): number | null {
  return failedAttempts >= MAX_DELIVERY_ATTEMPTS ? null : backoffMs(failedAttempts, 0, random);
}

/** Returns how many attempts a delivery of an event type has. A test has no retries. */
export function maxAttemptsOf(eventType: string): number {
  return isTest(eventType) ? 1 : MAX_DELIVERY_ATTEMPTS;
}
