import type { Page } from 'conversation-messaging-service';

/** Returns a complete list as its only page. */
export function toList<T>(data: T[]): Page<T> {
  return { data, nextCursor: null };
}
