export const FIRST_DELAY_MS = 2_000;
/** Largest share of a delay that is added at random, so that tasks which failed together retry apart. */
const JITTER = 0.1;

/**
 * Returns the milliseconds to wait after `failures` failures in a row: 2, 4, 8 … seconds, or `atLeastMs` if
 * that is longer, plus up to 10 %.
 * @param random returns a number from 0 to below 1
 * @throws RangeError unless `failures` is a whole number of at least 1
 */
export function backoffMs(failures: number, atLeastMs = 0, random: () => number = Math.random): number {
  if (!Number.isInteger(failures) || failures < 1) {
    throw new RangeError(`Not a count of failures: ${failures}`);
  }
  const base = Math.max(FIRST_DELAY_MS * 2 ** (failures - 1), atLeastMs);
  return base + Math.floor(base * JITTER * random());
}
