/** The first attempt and the contract's five retries. */
export const MAX_ATTEMPTS = 6;

const FIRST_DELAY_MS = 2000;
/** Spreads the retries of deliveries that failed together; never less than the base delay. */
const JITTER = 0.1;

/**
 * How long to wait after `failedAttempts` attempts have failed: 2, 4, 8, 16, 32 seconds and up to 10 %
 * more; null once no attempt is left. `random` is a number from 0 up to, not including, 1.
 */
export function retryDelayMs(failedAttempts: number, random: () => number = Math.random): number | null {
  if (!Number.isInteger(failedAttempts) || failedAttempts < 1) {
    throw new RangeError(`Not a count of failed attempts: ${failedAttempts}`);
  }
  if (failedAttempts >= MAX_ATTEMPTS) return null;
  const base = FIRST_DELAY_MS * 2 ** (failedAttempts - 1);
  return base + Math.floor(base * JITTER * random());
}
