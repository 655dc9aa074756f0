import { createHash, timingSafeEqual } from 'node:crypto';

/** Reports whether secrets are equal, in constant time. Compares digests, which hide the secrets' lengths. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
