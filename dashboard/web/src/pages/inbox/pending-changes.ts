import { api } from '../../api/client';
import type { ActiveConversation, Conversation } from '../../api/types';

/** New values of a conversation's changed properties. */
export type ConversationValues = Partial<Omit<ActiveConversation, 'id' | 'contact'>>;

/** Change of a conversation that the page shows, and that the server has not confirmed. */
export interface PendingChange {
  conversationId: string;
  change: ConversationValues;
  /** Whether the server has refused it. */
  isRefused: boolean;
}

const pending = new Set<PendingChange>();
/** Changes that the answer of each running read may not have. */
const missing = new Set<Set<PendingChange>>();

/** Notes a change that is about to be sent. */
export function beginChange(conversationId: string, change: ConversationValues): PendingChange {
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

/** Reads a conversation with its contact. The answer has the conversation's pending changes. */
export function readConversation(
  workspaceId: string,
  conversationId: string,
  signal?: AbortSignal,
): Promise<Conversation> {
  const path = `/workspaces/${workspaceId}/conversations/${conversationId}`;
  return readWithChanges(
    () => api.get<Conversation>(path, signal),
    (conversation, { conversationId: changedId, change }) =>
      changedId === conversationId ? { ...conversation, ...change } : conversation,
  );
}

/**
 * Reads conversations. The answer gets the changes that were pending at any time meanwhile, because it may be
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
