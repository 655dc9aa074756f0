import type { Page } from 'conversation-messaging-service';

/** Returns a list without pages in the form of a page. */
export function toList<T>(data: T[]): Page<T> {
  return { data, nextCursor: null };
}
