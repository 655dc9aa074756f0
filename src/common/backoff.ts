/** The wait after a first failure. */
export const FIRST_DELAY_MS = 2_000;
/** Spreads the retries of what failed together; never less than the base delay. */
const JITTER = 0.1;

/**
 * How long to wait after so many failures in a row: 2, 4, 8 … seconds, or `atLeastMs` where that is longer, and up to
 * 10 % more. `random` is a number from 0 up to, not including, 1.
 */
export function backoffMs(failures: number, atLeastMs = 0, random: () => number = Math.random): number {
  if (!Number.isInteger(failures) || failures < 1) {
    throw new RangeError(`Not a count of failures: ${failures}`);
  }
  const base = Math.max(FIRST_DELAY_MS * 2 ** (failures - 1), atLeastMs);
  return base + Math.floor(base * JITTER * random());
}
