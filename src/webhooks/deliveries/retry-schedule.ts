import { backoffMs } from '../../common/backoff';

/** The first attempt and the contract's five retries. */
export const MAX_ATTEMPTS = 6;

/**
 * How long to wait after `failedAttempts` attempts have failed: 2, 4, 8, 16, 32 seconds and up to 10 % more; null once
 * no attempt is left.
 */
export function retryDelayMs(failedAttempts: number, random?: () => number): number | null {
  return failedAttempts >= MAX_ATTEMPTS ? null : backoffMs(failedAttempts, 0, random);
}
