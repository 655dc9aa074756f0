import { backoffMs } from '../../common/backoff';
import { isTest } from '../../outbox/event-catalog';

/** The first attempt and the contract's five retries. */
export const MAX_DELIVERY_ATTEMPTS = 6;

/**
 * The backoff after `failedAttempts` failed attempts: 2, 4, 8, 16, 32 seconds and up to 10 % more; null when no attempt
 * is left.
 */
export function deliveryRetryDelayMs(failedAttempts: number, random?: () => number): number | null {
  return failedAttempts >= MAX_DELIVERY_ATTEMPTS ? null : backoffMs(failedAttempts, 0, random);
}

/** Returns how many attempts a delivery of an event type has. A test has no retries. */
export function maxAttemptsOf(eventType: string): number {
  return isTest(eventType) ? 1 : MAX_DELIVERY_ATTEMPTS;
}
