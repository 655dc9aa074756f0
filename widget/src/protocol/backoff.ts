const FIRST_MS = 1000;
const MAX_MS = 30_000;

/**
 * Returns the milliseconds to wait after failures in a row: a random time between half the backoff and the
 * full backoff, which grows from 1 to 30 s. Thus clients that lose the service together return apart.
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return full / 2 + (full / 2) * random();
}
