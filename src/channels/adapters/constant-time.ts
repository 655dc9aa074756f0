import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether two secrets are one. How long it takes tells nothing of either, its length included. */
export function isSameSecret(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
