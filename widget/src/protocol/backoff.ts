const FIRST_MS = 1000;
const MAX_MS = 30_000;

/**
 * Returns the milliseconds to wait after a number of failures in a row. The wait grows from 1 to 30 s. It is
 * shortened by a random part of up to half, so that clients do not all retry at the same time.
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return full / 2 + (full / 2) * random();
}
