import { type InfiniteData, type Query, type QueryClient } from '@tanstack/react-query';
import { api } from '../../api/client';
import type { Conversation, Message, Page } from '../../api/types';

/** Number of conversations up to which the server counts. Any larger number is shown as "more than 1,000". */
export const MAX_COUNT = 1_000;

/** Number of loaded pages up to which a list is polled at full pace. A longer list is polled less often. */
export const FRESH_PAGES = 2;

/** Parts of cache keys: the kinds of data that the page shows of an open conversation. */
const SHOWN_PARTS = ['conversation', 'messages', 'notes'];

export type Pages<T> = InfiniteData<Page<T>>;

export const keyOf = (workspaceId: string, ...parts: unknown[]) => [
  'workspaces',
  workspaceId,
  'inbox',
  ...parts,
];

export const messagesKey = (workspaceId: string, conversationId: string) =>
  keyOf(workspaceId, 'messages', conversationId);

/** Changes cached data. Begins a running or due read anew, because its answer may lack the change. */
export function changeCached<T>(queries: QueryClient, queryKey: unknown[], change: (data: T) => T): void {
  const before = queries.getQueryState(queryKey);
  void queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData<T>(queryKey, (data) => data && change(data));
  if (before?.fetchStatus === 'fetching' || before?.isInvalidated)
    void queries.invalidateQueries({ queryKey, exact: true });
}

/** Adds a new message or note to its cached list, so that it is shown before the list is read again. */
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
 * Reads the shown data of conversations again. Reads all loaded messages of each, or only the newest page if
 * more than `FRESH_PAGES` pages are loaded.
 * @param parts kinds of data to read; by default all that the page shows
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
 * Reads the newest page of a conversation's messages. Reads all loaded pages if messages between them and the
 * newest page may be missing. Keeps `dataUpdatedAt`, so that the next read of all pages is not delayed.
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
  // If the read failed, marks the messages as stale, so that the next poll reads them.
  if (!newest) return queries.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
  const joined = isSettled(messages) && withNewest(messages.state.data!, newest.data);
  if (!joined) return queries.invalidateQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, joined, { updatedAt: messages.state.dataUpdatedAt });
}

function findMessages(queries: QueryClient, workspaceId: string, conversationId: string) {
  const queryKey = messagesKey(workspaceId, conversationId);
  return queries.getQueryCache().find<Pages<Message>>({ queryKey, exact: true });
}

/** Reports whether messages are loaded, not being read, and not marked as stale. */
function isSettled({ state: { data, fetchStatus, isInvalidated } }: Query<Pages<Message>>): boolean {
  return data !== undefined && fetchStatus === 'idle' && !isInvalidated;
}

/** Merges the newest messages into the loaded pages; null if no page has one, so some may be missing. */
export function withNewest({ pages, ...rest }: Pages<Message>, newest: Message[]): Pages<Message> | null {
  const loadedIds = new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)));
  if (!newest.some(({ id }) => loadedIds.has(id))) return null;
  const byId = new Map(newest.map((message) => [message.id, message]));
  const added = newest.filter(({ id }) => !loadedIds.has(id));
  const [first, ...others] = pages.map(({ data, ...page }) => ({
    ...page,
    data: data.map((one) => byId.get(one.id) ?? one),
  }));
  // Sorts, because the person's own message may have been added before an older message was read.
  const data = [...added, ...first!.data].sort((a, b) => (a.id < b.id ? 1 : -1));
  return { ...rest, pages: [{ ...first!, data }, ...others] };
}

/** Reads contacts again where the page shows them, and the shown conversations with these contacts. */
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

/** Reads the counts of conversations and the latest unread conversations again. */
export function refreshCounts(queries: QueryClient, workspaceId: string): Promise<unknown> {
  const paths = ['conversations/counts', 'conversations/unread'];
  return Promise.all(
    paths.map((path) => queries.invalidateQueries({ queryKey: ['workspaces', workspaceId, path] })),
  );
}

/** Reads again which agents and visitors are in the conversations, if the page shows it. Null means all. */
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
