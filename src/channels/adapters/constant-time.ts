import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Reports whether two secrets are equal, in constant time. It compares their digests, so that the time does
 * not show their lengths either.
 */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
