import { createHash, timingSafeEqual } from 'node:crypto';

/** Compares secrets in constant time. It compares digests, which hide the secrets' lengths too. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
