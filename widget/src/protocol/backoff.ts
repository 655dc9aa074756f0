const FIRST_MS = 1000;
const MAX_MS = 30_000;

/**
 * Returns the pause after a number of failures in a row: 1 to 30 seconds and partly random, so that clients
 * that lost the service at one moment do not return at one moment.
 */
export function backoffMs(failures: number, random: () => number = Math.random): number {
  const full = Math.min(MAX_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return full / 2 + (full / 2) * random();
}
