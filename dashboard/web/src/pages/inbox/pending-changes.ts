import type { ActiveConversation } from '../../api/types';

/** Change of a conversation that the page shows, and that the server has not confirmed. */
export interface PendingChange {
  conversationId: string;
  change: Partial<ActiveConversation>;
  /** Whether the server has refused it. */
  isRefused: boolean;
}

const pending = new Set<PendingChange>();
/** Changes that the answer of each running read may not have. */
const missing = new Set<Set<PendingChange>>();

/** Notes a change that is about to be sent. */
export function beginChange(conversationId: string, change: Partial<ActiveConversation>): PendingChange {
  const begun = { conversationId, change, isRefused: false };
  pending.add(begun);
  for (const changes of missing) changes.add(begun);
  return begun;
}

/** Ends a change that the server has made or refused. */
export function endChange(change: PendingChange | undefined, isRefused: boolean): void {
  if (!change) return;
  change.isRefused = isRefused;
  pending.delete(change);
}

/**
 * Reads conversations, and makes in the answer the changes that were pending at any time meanwhile: it may be
 * older than they are.
 */
export async function readWithChanges<T>(
  read: () => Promise<T>,
  make: (answer: T, change: PendingChange) => T,
): Promise<T> {
  const changes = new Set(pending);
  missing.add(changes);
  try {
    const answer = await read();
    return [...changes].filter(({ isRefused }) => !isRefused).reduce(make, answer);
  } finally {
    missing.delete(changes);
  }
}
