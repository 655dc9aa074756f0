import { api } from '../../api/client';
import type { ActiveConversation, Conversation } from '../../api/types';

export type ConversationValues = Partial<Omit<ActiveConversation, 'id' | 'contact'>>;

/** Change of a conversation that the page shows before the server has confirmed it. */
export interface PendingChange {
  conversationId: string;
  change: ConversationValues;
  isRefused: boolean;
}

const pending = new Set<PendingChange>();
/** Changes that the answer of a running read may lack: one set for each running read. */
const missing = new Set<Set<PendingChange>>();

/** Registers a change that is about to be sent, so that it is applied to the answers of running reads. */
export function beginChange(conversationId: string, change: ConversationValues): PendingChange {
  const begun = { conversationId, change, isRefused: false };
  pending.add(begun);
  for (const changes of missing) changes.add(begun);
  return begun;
}

/** Unregisters a change that the server has confirmed or refused. */
export function endChange(change: PendingChange | undefined, isRefused: boolean): void {
  if (!change) return;
  change.isRefused = isRefused;
  pending.delete(change);
}

/** Reads a conversation with its contact, and applies the conversation's pending changes to the answer. */
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

/** Reads conversations. Applies to the answer all changes that were pending meanwhile and not refused. */
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
