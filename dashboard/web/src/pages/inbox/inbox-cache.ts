import { type InfiniteData, type Query, type QueryClient } from '@tanstack/react-query';
import { api } from '../../api/client';
import type { Conversation, Message, Page } from '../../api/types';

/** Highest number of conversations that the server counts to. */
export const MAX_COUNT = 1_000;

/** Number of loaded pages that are read again every few seconds. More are read more rarely. */
export const FRESH_PAGES = 2;

/** Kinds of cached answers that the page shows of an open conversation. */
const SHOWN_PARTS = ['conversation', 'messages', 'notes'];

export type Pages<T> = InfiniteData<Page<T>>;

export const keyOf = (workspaceId: string, ...parts: unknown[]) => [
  'workspaces',
  workspaceId,
  'inbox',
  ...parts,
];

/** Returns the key under which a conversation's messages are kept. */
export const messagesKey = (workspaceId: string, conversationId: string) =>
  keyOf(workspaceId, 'messages', conversationId);

/**
 * Changes the cached data of a key. A read that is running begins again, because its answer may be older than
 * the change.
 */
export function changeCached<T>(queries: QueryClient, queryKey: unknown[], change: (data: T) => T): void {
  const before = queries.getQueryState(queryKey);
  void queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData<T>(queryKey, (data) => data && change(data));
  if (before?.fetchStatus === 'fetching' || before?.isInvalidated)
    void queries.invalidateQueries({ queryKey, exact: true });
}

/** Shows a new message or note at the beginning of its list, before the list is read again. */
export function addNewest(
  queries: QueryClient,
  workspaceId: string,
  key: string[],
  item: { id: string },
): void {
  changeCached<Pages<{ id: string }>>(queries, keyOf(workspaceId, ...key), (pages) => {
    const [first, ...others] = pages.pages;
    if (!first || first.data.some(({ id }) => id === item.id)) return pages;
    return { ...pages, pages: [{ ...first, data: [item, ...first.data] }, ...others] };
  });
}

/** Takes a deleted note out of its list, before the list is read again. */
export function removeItem(queries: QueryClient, workspaceId: string, key: string[], itemId: string): void {
  changeCached<Pages<{ id: string }>>(queries, keyOf(workspaceId, ...key), (pages) => ({
    ...pages,
    pages: pages.pages.map(({ data, ...page }) => ({
      ...page,
      data: data.filter(({ id }) => id !== itemId),
    })),
  }));
}

export function refreshInbox(queries: QueryClient, workspaceId: string): Promise<unknown> {
  return Promise.all([
    queries.invalidateQueries({ queryKey: keyOf(workspaceId) }),
    refreshCounts(queries, workspaceId),
  ]);
}

/**
 * Reads conversations again, as far as the page shows them, with their messages: all loaded messages, or the
 * newest page alone where many are loaded.
 * @param parts kinds of answers that are read of each; all that the page shows by default
 */
export function refreshOpen(
  queries: QueryClient,
  workspaceId: string,
  conversationIds: string[],
  parts: unknown[] = SHOWN_PARTS,
): Promise<unknown> {
  const ids = new Set<unknown>(conversationIds);
  const long = conversationIds
    .map((id) => ({ id, messages: findMessages(queries, workspaceId, id) }))
    .filter(
      ({ messages }) =>
        (messages?.state.data?.pages.length ?? 0) > FRESH_PAGES &&
        messages!.isActive() &&
        isSettled(messages!),
    );
  const hashes = new Set(long.map(({ messages }) => messages!.queryHash));
  return Promise.all([
    queries.invalidateQueries({
      queryKey: keyOf(workspaceId),
      predicate: ({ queryKey: [, , , part, id], queryHash }) =>
        parts.includes(part) && ids.has(id) && !hashes.has(queryHash),
    }),
    ...long.map(({ id, messages }) => refreshNewest(queries, workspaceId, id, messages!)),
  ]);
}

/**
 * Reads the newest messages of a conversation again, and all loaded ones if there is a gap between them. The
 * loaded ones count as no newer than before.
 */
async function refreshNewest(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  messages: Query<Pages<Message>>,
): Promise<void> {
  const { queryKey } = messages;
  const path = `/workspaces/${workspaceId}/conversations/${conversationId}/messages`;
  const newest = await queries
    .fetchQuery({
      queryKey: keyOf(workspaceId, 'newest', conversationId),
      queryFn: ({ signal }) => api.get<Page<Message>>(path, signal),
      staleTime: 0,
      gcTime: 0,
    })
    .catch(() => null);
  // The next poll reads the messages that could not be read now.
  if (!newest) return queries.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
  const joined = isSettled(messages) && withNewest(messages.state.data!, newest.data);
  if (!joined) return queries.invalidateQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, joined, { updatedAt: messages.state.dataUpdatedAt });
}

function findMessages(queries: QueryClient, workspaceId: string, conversationId: string) {
  const queryKey = messagesKey(workspaceId, conversationId);
  return queries.getQueryCache().find<Pages<Message>>({ queryKey, exact: true });
}

/** Reports whether messages are loaded, and are neither being read nor have to be read again. */
function isSettled({ state: { data, fetchStatus, isInvalidated } }: Query<Pages<Message>>): boolean {
  return data !== undefined && fetchStatus === 'idle' && !isInvalidated;
}

/** Returns loaded pages with the newest messages in them; null if some between them may be missing. */
export function withNewest({ pages, ...rest }: Pages<Message>, newest: Message[]): Pages<Message> | null {
  const loadedIds = new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)));
  if (!newest.some(({ id }) => loadedIds.has(id))) return null;
  const byId = new Map(newest.map((message) => [message.id, message]));
  const added = newest.filter(({ id }) => !loadedIds.has(id));
  const [first, ...others] = pages.map(({ data, ...page }) => ({
    ...page,
    data: data.map((one) => byId.get(one.id) ?? one),
  }));
  // The person's own message may have been shown before an older one came.
  const data = [...added, ...first!.data].sort((a, b) => (a.id < b.id ? 1 : -1));
  return { ...rest, pages: [{ ...first!, data }, ...others] };
}

/** Reads contacts again that the page shows, and the conversations of these contacts. */
export function refreshContacts(
  queries: QueryClient,
  workspaceId: string,
  contactIds: string[],
): Promise<unknown> {
  return Promise.all([
    queries.invalidateQueries({
      queryKey: keyOf(workspaceId, 'conversation'),
      predicate: ({ state }) =>
        contactIds.includes((state.data as Conversation | undefined)?.contact.id ?? ''),
    }),
    ...contactIds.map((id) =>
      queries.invalidateQueries({ queryKey: ['workspaces', workspaceId, `contacts/${id}`] }),
    ),
  ]);
}

/** Reads the counts of conversations again, and the unread ones. */
export function refreshCounts(queries: QueryClient, workspaceId: string): Promise<unknown> {
  const paths = ['conversations/counts', 'conversations/unread'];
  return Promise.all(
    paths.map((path) => queries.invalidateQueries({ queryKey: ['workspaces', workspaceId, path] })),
  );
}

/** Reads again who is in conversations, if the page shows one of them. */
export function refreshPresence(
  queries: QueryClient,
  workspaceId: string,
  conversationIds: string[] | null,
): Promise<unknown> {
  return queries.invalidateQueries({
    queryKey: keyOf(workspaceId, 'presence'),
    predicate: ({ queryKey }) => conversationIds?.some((id) => String(queryKey.at(-1)).includes(id)) ?? true,
  });
}
