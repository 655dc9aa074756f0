import type { Page } from 'conversation-messaging-service';

/** A list that has no pages, in the form of one that has. */
export function toList<T>(data: T[]): Page<T> {
  return { data, nextCursor: null };
}
