import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares secrets in constant time. Compares their digests, because a comparison could reveal a length. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
