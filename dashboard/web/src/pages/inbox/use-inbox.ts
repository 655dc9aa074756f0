import {
  type InfiniteData,
  keepPreviousData,
  type Query,
  type QueryClient,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { api, toQuery } from '../../api/client';
import type {
  ActiveConversation,
  Channel,
  Conversation,
  ConversationChange,
  ConversationStatus,
  InboxCounts,
  Message,
  Page,
  Unread,
  UpdateConversation,
} from '../../api/types';
import { useRead, useWorkspace } from '../../api/workspace';
import { type InboxFilter, NOBODY, useAssigneeOf } from './inbox-filter';
import { withChangedRows } from './list/changed-rows';
import { useFreshness, usePollMs } from './live/live-state';
import { beginChange, endChange, type PendingChange, readWithChanges } from './pending-changes';

/** Number of loaded pages that are read again every few seconds. More are read more rarely. */
const FRESH_PAGES = 2;
/** Shortest pause before all loaded pages are read again. */
const MIN_PAUSE_MS = 5_000;
const MAX_PAGE = 200;
/** Limit of the conversations that a list is asked for by their ids. */
const MAX_NAMED = 100;
/** Pause between two reads of the open conversation: nobody finds a lost signal of a delivery mark. */
export const MARKS_MS = 15_000;

/** Parts of what the page shows of an open conversation. */
const SHOWN_PARTS = new Set<unknown>(['conversation', 'messages', 'notes']);

type Pages<T> = InfiniteData<Page<T>>;

const keyOf = (workspaceId: string, ...parts: unknown[]) => ['workspaces', workspaceId, 'inbox', ...parts];

/** Returns the key under which a conversation's messages are kept. */
export const messagesKey = (workspaceId: string, conversationId: string) =>
  keyOf(workspaceId, 'messages', conversationId);

/** Reads a list page by page, and what is loaded of it again while the tab is visible. */
export function usePages<T extends { id: string }>(
  key: unknown[],
  path: string,
  query: object = {},
  {
    refreshes = true,
    isEnabled = true,
    besideStreamMs,
    makeChange,
  }: {
    refreshes?: boolean;
    isEnabled?: boolean;
    besideStreamMs?: number;
    /** Makes a change in a page that the server may not have known when it answered. */
    makeChange?: (page: Page<T>, change: PendingChange) => Page<T>;
  } = {},
) {
  const { id } = useWorkspace();
  const pollMs = usePollMs(besideStreamMs);
  const pages = useInfiniteQuery({
    ...useFreshness(besideStreamMs),
    queryKey: keyOf(id, ...key),
    queryFn: ({ pageParam, signal }) => {
      const read = () =>
        api.get<Page<T>>(`/workspaces/${id}/${path}${toQuery({ ...query, cursor: pageParam })}`, signal);
      return makeChange ? readWithChanges(read, makeChange) : read();
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    refetchInterval: ({ state: { data, dataUpdatedAt } }) => {
      if (!refreshes) return false;
      const pauseMs = pollMs * Math.ceil((data?.pages.length ?? 1) / FRESH_PAGES);
      // Reads of the newest page alone do not put off the next one of all.
      return Math.max(MIN_PAUSE_MS, dataUpdatedAt + pauseMs - Date.now());
    },
    enabled: isEnabled,
    placeholderData: refreshes ? undefined : keepPreviousData,
  });
  // What moves between the reading of two pages is in both.
  const items = useMemo(() => {
    const loaded = pages.data?.pages.flatMap(({ data }) => data);
    return loaded && [...new Map(loaded.toReversed().map((item) => [item.id, item])).values()].toReversed();
  }, [pages.data]);
  return { ...pages, items };
}

export type LoadedPages = Omit<ReturnType<typeof usePages<{ id: string }>>, 'items' | 'data'>;

/** Query by which the server is asked for a list of conversations. */
interface ListQuery {
  status: ConversationStatus;
  channel?: Channel;
  assignedAgentId?: string;
  /** Id of the only conversation that the list may have; null as long as it has none. */
  onlyId?: string | null;
}

type List = Pages<ActiveConversation>;

/** Returns a list's query as the server knows it. */
function toParameters({ onlyId, ...query }: ListQuery) {
  return { ...query, ids: onlyId ?? undefined };
}

export function useConversations(filter: InboxFilter) {
  const { status, channel } = filter;
  return useList({ status, channel, assignedAgentId: useAssigneeOf()(filter) });
}

/** Reads a conversation as lists have it, if it has the status; nothing without an id. */
export function useListed(
  conversationId: string | undefined,
  status: ConversationStatus,
): ActiveConversation | undefined {
  return useList({ status, onlyId: conversationId ?? null }, conversationId !== undefined).items?.[0];
}

/** Returns a conversation as the page's lists have it; nothing if it is in none of them. */
export function useRow(conversationId: string): ActiveConversation | undefined {
  const { id } = useWorkspace();
  const queries = useQueryClient();
  const subscribe = useCallback(
    (notify: () => void) =>
      queries.getQueryCache().subscribe(({ query }) => {
        if ((query.queryKey as unknown[])[3] === 'list') notify();
      }),
    [queries],
  );
  return useSyncExternalStore(subscribe, () => rowsOf(queries, id, conversationId, 'active')[0]);
}

function useList(query: ListQuery, isEnabled = true) {
  return usePages<ActiveConversation>(['list', query], 'conversations', toParameters(query), {
    isEnabled,
    makeChange: (page, change) => withChange(page, change, query),
  });
}

/** Makes a change in a page of a list. What it takes out of the list's filter leaves the page. */
function withChange(
  page: Page<ActiveConversation>,
  { conversationId, change }: Omit<PendingChange, 'isRefused'>,
  { status, assignedAgentId }: ListQuery,
): Page<ActiveConversation> {
  const isShown = (one: ActiveConversation) =>
    one.status === status &&
    (assignedAgentId === undefined || (one.assignedAgentId ?? NOBODY) === assignedAgentId);
  const data = page.data.flatMap((one) => {
    if (one.id !== conversationId) return [one];
    const changed = { ...one, ...change };
    return isShown(changed) ? [changed] : [];
  });
  return { ...page, data };
}

export function useCounts() {
  return useRead<InboxCounts>('conversations/counts', {}, { refreshMs: usePollMs() });
}

/** Reads what the person has not read among their own and nobody's open conversations. */
export function useUnread() {
  return useRead<Unread>('conversations/unread', {}, { refreshMs: usePollMs() });
}

/** Reads a conversation with its contact; nothing without an id. */
export function useConversation(conversationId: string | undefined) {
  const { id } = useWorkspace();
  return useQuery({
    ...useFreshness(),
    enabled: conversationId !== undefined,
    queryKey: keyOf(id, 'conversation', conversationId),
    queryFn: ({ signal }) =>
      api.get<Conversation>(`/workspaces/${id}/conversations/${conversationId}`, signal),
    refetchInterval: usePollMs(),
  });
}

/** Reads a conversation's messages, the newest first; nothing without an id. */
export function useMessages(conversationId: string | undefined) {
  const path = `conversations/${conversationId}/messages`;
  const isEnabled = conversationId !== undefined;
  return usePages<Message>(['messages', conversationId], path, {}, { isEnabled, besideStreamMs: MARKS_MS });
}

/** Reads a conversation's changes, the newest first, and again when the conversation has changed. */
export function useChanges(conversationId: string, updatedAt: string) {
  return usePages<ConversationChange>(
    ['changes', conversationId, updatedAt],
    `conversations/${conversationId}/changes`,
    { limit: MAX_PAGE },
    { refreshes: false },
  );
}

/** Shows what was written at the beginning of its list, before the list is read again. */
export function addNewest(
  queries: QueryClient,
  workspaceId: string,
  key: string[],
  item: { id: string },
): void {
  const queryKey = keyOf(workspaceId, ...key);
  void queries.cancelQueries({ queryKey, exact: true });
  queries.setQueryData<Pages<{ id: string }>>(queryKey, (pages) => {
    const [first, ...others] = pages?.pages ?? [];
    if (!pages || !first || first.data.some(({ id }) => id === item.id)) return pages;
    return { ...pages, pages: [{ ...first, data: [item, ...first.data] }, ...others] };
  });
}

/** Takes what was deleted out of its list, before the list is read again. */
export function removeItem(queries: QueryClient, workspaceId: string, key: string[], itemId: string): void {
  const queryKey = keyOf(workspaceId, ...key);
  void queries.cancelQueries({ queryKey });
  queries.setQueryData<Pages<{ id: string }>>(queryKey, (pages) => {
    if (!pages) return pages;
    const rest = pages.pages.map(({ data, ...page }) => ({
      ...page,
      data: data.filter(({ id }) => id !== itemId),
    }));
    return { ...pages, pages: rest };
  });
}

export function refreshInbox(queries: QueryClient, workspaceId: string): Promise<unknown> {
  return Promise.all([
    queries.invalidateQueries({ queryKey: keyOf(workspaceId) }),
    refreshCounts(queries, workspaceId),
  ]);
}

/**
 * Reads the conversations again that the page shows, with their messages: all that is loaded of them, or the
 * newest page where it is much.
 */
export function refreshOpen(
  queries: QueryClient,
  workspaceId: string,
  conversationIds: string[],
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
        SHOWN_PARTS.has(part) && ids.has(id) && !hashes.has(queryHash),
    }),
    ...long.map(({ id, messages }) => refreshNewest(queries, workspaceId, id, messages!)),
  ]);
}

/**
 * Reads the newest messages of a conversation again, and all that are loaded if those do not join them. What
 * is loaded counts as no newer than before.
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
  // The next round reads what could not be read now.
  if (!newest) return queries.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
  const joined = isSettled(messages) && withNewest(messages.state.data!, newest.data);
  if (!joined) return queries.invalidateQueries({ queryKey, exact: true });
  queries.setQueryData(queryKey, joined, { updatedAt: messages.state.dataUpdatedAt });
}

function findMessages(queries: QueryClient, workspaceId: string, conversationId: string) {
  const queryKey = messagesKey(workspaceId, conversationId);
  return queries.getQueryCache().find<Pages<Message>>({ queryKey, exact: true });
}

/** Reports whether what is loaded is neither being read nor has to be read again. */
function isSettled({ state: { data, fetchStatus, isInvalidated } }: Query<Pages<Message>>): boolean {
  return data !== undefined && fetchStatus === 'idle' && !isInvalidated;
}

/** Returns loaded pages with the newest messages in them; null if some between them may be missing. */
function withNewest({ pages, ...rest }: Pages<Message>, newest: Message[]): Pages<Message> | null {
  const loadedIds = new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)));
  if (!newest.some(({ id }) => loadedIds.has(id))) return null;
  const byId = new Map(newest.map((message) => [message.id, message]));
  const added = newest.filter(({ id }) => !loadedIds.has(id));
  const [first, ...others] = pages.map(({ data, ...page }) => ({
    ...page,
    data: data.map((one) => byId.get(one.id) ?? one),
  }));
  // An own message may have been shown before an older one came.
  const data = [...added, ...first!.data].sort((a, b) => (a.id < b.id ? 1 : -1));
  return { ...rest, pages: [{ ...first!, data }, ...others] };
}

/** Reads again what a change of a conversation may have changed. */
export function refreshAfterAct(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
): Promise<unknown> {
  return Promise.all([
    refreshOpen(queries, workspaceId, [conversationId]),
    refreshList(queries, workspaceId, [conversationId]),
    refreshCounts(queries, workspaceId),
  ]);
}

/**
 * Reads conversations again in the lists that the page shows, and puts them where they belong now. Other
 * lists are read in whole when they are shown.
 */
export async function refreshList(
  queries: QueryClient,
  workspaceId: string,
  conversationIds: string[],
): Promise<unknown> {
  const queryKey = keyOf(workspaceId, 'list');
  if (conversationIds.length > MAX_NAMED) return queries.invalidateQueries({ queryKey });
  await queries.invalidateQueries({ queryKey, type: 'inactive', refetchType: 'none' });
  return Promise.all(
    findLists(queries, workspaceId, 'active').map((list) => {
      // One after the other, so that the newest answer counts.
      const before = rowReads.get(list) ?? Promise.resolve();
      const read = before.then(() => refreshRows(queries, workspaceId, list, conversationIds));
      rowReads.set(list, read);
      return read;
    }),
  );
}

/** Last read of rows of each list. */
const rowReads = new WeakMap<Query<List>, Promise<void>>();
/** Ids of the conversations of each list that could not be read. */
const failedRows = new WeakMap<Query<List>, string[]>();

/** Reads conversations of one list again, after what is being read of it already. */
async function refreshRows(
  queries: QueryClient,
  workspaceId: string,
  list: Query<List>,
  conversationIds: string[],
): Promise<void> {
  const { queryKey } = list;
  const query = queryKey.at(-1) as ListQuery;
  const changed = new Set([...(failedRows.get(list) ?? []), ...conversationIds]);
  const ids = [...changed].filter((id) => query.onlyId === undefined || id === query.onlyId);
  if (ids.length === 0) return;
  failedRows.delete(list);
  if (ids.length > MAX_NAMED) return queries.invalidateQueries({ queryKey, exact: true });
  const named = toQuery({ ...toParameters(query), ids, limit: ids.length });
  await untilRead(list);
  const begunAt = Date.now();
  const rows = await readWithChanges(
    () => api.get<Page<ActiveConversation>>(`/workspaces/${workspaceId}/conversations${named}`),
    (page, change) => withChange(page, change, query),
  ).catch(() => null);
  // A page that is read meanwhile would otherwise put the others back as they were.
  await untilRead(list);
  if (!rows) {
    // The next read of rows, or of the whole list, has them.
    failedRows.set(list, ids);
    return;
  }
  const { data, dataUpdatedAt, isInvalidated } = list.state;
  if (!data || isInvalidated) return queries.invalidateQueries({ queryKey, exact: true });
  // What was loaded meanwhile may be newer than the answer.
  if (dataUpdatedAt > begunAt) return refreshRows(queries, workspaceId, list, ids);
  queries.setQueryData(queryKey, withChangedRows(data, ids, rows.data), { updatedAt: dataUpdatedAt });
}

async function untilRead(list: Query<List>): Promise<void> {
  while (list.promise && list.state.fetchStatus === 'fetching') await list.promise.catch(() => undefined);
}

/** Reads contacts again that the page shows, also those of conversations. */
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

/** Reads the numbers of conversations again, and what is unread. */
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

/** Reports whether a list says that the person has read a conversation up to a message. */
export function isKnownRead(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  messageId: string,
): boolean {
  return rowsOf(queries, workspaceId, conversationId).some(
    ({ isUnread, lastMessageId }) => !isUnread && lastMessageId !== null && lastMessageId >= messageId,
  );
}

/** Reports whether lists have a conversation, and all of them show it as unread, or as read. */
export function isShownAs(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  isUnread: boolean,
): boolean {
  const rows = rowsOf(queries, workspaceId, conversationId);
  return rows.length > 0 && rows.every((row) => row.isUnread === isUnread);
}

/** Returns the conversations with these contacts in all loaded lists. */
export function rowsOfContacts(queries: QueryClient, workspaceId: string, contactIds: string[]): string[] {
  const ids = new Set(contactIds);
  return allRows(queries, workspaceId)
    .filter(({ contact }) => ids.has(contact.id))
    .map(({ id }) => id);
}

/** Returns the rows of a conversation in loaded lists. */
function rowsOf(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  type: 'all' | 'active' = 'all',
): ActiveConversation[] {
  return allRows(queries, workspaceId, type).filter(({ id }) => id === conversationId);
}

function allRows(
  queries: QueryClient,
  workspaceId: string,
  type: 'all' | 'active' = 'all',
): ActiveConversation[] {
  return findLists(queries, workspaceId, type).flatMap(
    ({ state }) => state.data?.pages.flatMap(({ data }) => data) ?? [],
  );
}

/** Returns lists of conversations: all, or those alone that the page shows. */
function findLists(queries: QueryClient, workspaceId: string, type: 'all' | 'active' = 'all'): Query<List>[] {
  const queryKey = keyOf(workspaceId, 'list');
  return queries.getQueryCache().findAll({ queryKey, type }) as unknown as Query<List>[];
}

/** Shows a change of a conversation in the lists that have it. They count as no newer than before. */
function showChange(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  change: Partial<ActiveConversation>,
): void {
  for (const list of findLists(queries, workspaceId)) {
    const { data, dataUpdatedAt, isInvalidated } = list.state;
    if (!data?.pages.some((page) => page.data.some(({ id }) => id === conversationId))) continue;
    const query = list.queryKey.at(-1) as ListQuery;
    const pages = data.pages.map((page) => withChange(page, { conversationId, change }, query));
    queries.setQueryData(list.queryKey, { ...data, pages }, { updatedAt: dataUpdatedAt });
    if (isInvalidated) list.invalidate();
  }
}

/** Shows in the lists whether a conversation is unread. */
export function showUnread(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  isUnread: boolean,
): void {
  showChange(queries, workspaceId, conversationId, { isUnread });
}

/**
 * Changes a conversation's status or agent. The page shows it at once, and takes it back on an error.
 * @param onChanged called when the server has changed it
 */
export function useUpdateConversation(
  conversationId: string,
  onChanged: (change: UpdateConversation) => void,
) {
  const { id: workspaceId } = useWorkspace();
  const queries = useQueryClient();
  const lists = { queryKey: keyOf(workspaceId, 'list') };
  const detail = { queryKey: keyOf(workspaceId, 'conversation', conversationId) };

  return useMutation({
    mutationFn: (change: UpdateConversation) =>
      api.patch(`/workspaces/${workspaceId}/conversations/${conversationId}`, change),
    scope: { id: `update ${conversationId}` },
    onMutate: (change) => {
      const isStale = ({ state }: Query<List>) => state.fetchStatus === 'fetching' || state.isInvalidated;
      const stale = findLists(queries, workspaceId).filter(isStale);
      // To cancel puts back at once what was there: nothing is awaited, and the next frame shows the change.
      void queries.cancelQueries(lists);
      void queries.cancelQueries(detail);
      const before = [...queries.getQueriesData(lists), ...queries.getQueriesData(detail)];
      queries.setQueriesData<Conversation>(detail, (one) => one && { ...one, ...change });
      showChange(queries, workspaceId, conversationId, change);
      const pending = beginChange(conversationId, change);
      // What was being read may tell of other conversations too.
      for (const { queryKey } of stale) void queries.invalidateQueries({ queryKey, exact: true });
      return { before, pending };
    },
    onSuccess: (_answer, change, context) => {
      endChange(context.pending, false);
      onChanged(change);
    },
    onError: (_error, _change, context) => {
      endChange(context?.pending, true);
      for (const [queryKey, data] of context?.before ?? []) queries.setQueryData(queryKey, data);
      // The lists may have changed since then.
      return queries.invalidateQueries(lists);
    },
    onSettled: () => refreshAfterAct(queries, workspaceId, conversationId),
  });
}
