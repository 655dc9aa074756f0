import {
  keepPreviousData,
  type Query,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useMemo, useSyncExternalStore } from 'react';
import { api, toQuery } from '../../api/client';
import type {
  ActiveConversation,
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
import { type InboxFilter, useAssigneeOf } from './inbox-filter';
import { isMatter } from './matters';
import { useFreshness, usePollMs } from './live/live-state';
import { endChange, type PendingChange, readConversation, readWithChanges } from './pending-changes';
import { FRESH_PAGES, keyOf } from './inbox-cache';
import {
  type List,
  type ListQuery,
  findLists,
  refreshAfterAct,
  rowsOf,
  showChange,
  toParameters,
  withChange,
} from './list/cached-lists';

/** Shortest pause in milliseconds until all loaded pages of a list are read again. */
const MIN_PAUSE_MS = 5_000;

const MAX_PAGE = 200;

/** Milliseconds between reads of messages beside a live stream, because it may miss changes of a status. */
export const MARKS_MS = 15_000;

/** Reads a list page by page, and reads the loaded pages repeatedly while the tab is visible. */
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
    /** Applies a pending change to a page, because the server may have answered before it made the change. */
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
      // A read of the newest page alone does not change `dataUpdatedAt`, and so does not delay the next full
      // read.
      return Math.max(MIN_PAUSE_MS, dataUpdatedAt + pauseMs - Date.now());
    },
    enabled: isEnabled,
    placeholderData: refreshes ? undefined : keepPreviousData,
  });
  // Leaves out repeated items, because an item that moves while pages are read may be in two of them.
  const items = useMemo(() => {
    const loaded = pages.data?.pages.flatMap(({ data }) => data);
    return loaded && [...new Map(loaded.toReversed().map((item) => [item.id, item])).values()].toReversed();
  }, [pages.data]);
  return { ...pages, items };
}

export type LoadedPages = Omit<ReturnType<typeof usePages<{ id: string }>>, 'items' | 'data'>;

export function useConversations(filter: InboxFilter) {
  const { view, status, channel } = filter;
  const assignedAgentId = useAssigneeOf()(filter);
  return useList(isMatter(view) ? { view, channel } : { status, channel, assignedAgentId });
}

/** Reads a conversation as a list's row; undefined if it has another status. Reads nothing without an id. */
export function useListed(
  conversationId: string | undefined,
  status: ConversationStatus,
): ActiveConversation | undefined {
  return useList({ status, onlyId: conversationId ?? null }, conversationId !== undefined).items?.[0];
}

/** Returns a conversation's row in the lists that the page shows; undefined if none contains it. */
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

export function useCounts() {
  return useRead<InboxCounts>('conversations/counts', {}, { refreshMs: usePollMs() });
}

/** Reads the unread conversations among the open ones that are assigned to the person or to no agent. */
export function useUnread() {
  return useRead<Unread>('conversations/unread', {}, { refreshMs: usePollMs() });
}

/** Reads a conversation with its contact. Reads nothing without an id. */
export function useConversation(conversationId: string | undefined) {
  const { id } = useWorkspace();
  return useQuery({
    ...useFreshness(),
    enabled: conversationId !== undefined,
    queryKey: keyOf(id, 'conversation', conversationId),
    queryFn: ({ signal }) => readConversation(id, conversationId!, signal),
    refetchInterval: usePollMs(),
  });
}

/** Reads a conversation's messages, the newest first. Reads nothing without an id. */
export function useMessages(conversationId: string | undefined) {
  const path = `conversations/${conversationId}/messages`;
  const isEnabled = conversationId !== undefined;
  return usePages<Message>(['messages', conversationId], path, {}, { isEnabled, besideStreamMs: MARKS_MS });
}

/** Reads a conversation's changes, the newest first. Reads them again when `updatedAt` has changed. */
export function useChanges(conversationId: string, updatedAt: string) {
  return usePages<ConversationChange>(
    ['changes', conversationId, updatedAt],
    `conversations/${conversationId}/changes`,
    { limit: MAX_PAGE },
    { refreshes: false },
  );
}

/** Returns a mutation of a conversation's status or agent. The page shows the change before the answer. */
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
      // Not awaited, because the cancelled queries return to their former data at once.
      void queries.cancelQueries(lists);
      const before = [...queries.getQueriesData(lists), ...queries.getQueriesData(detail)];
      queries.setQueriesData<Conversation>(detail, (one) => one && { ...one, ...change });
      const pending = showChange(queries, workspaceId, conversationId, change);
      // The cancelled reads may have contained changes of other conversations, so they are repeated.
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
      // Reads the restored lists, because they may be out of date.
      return queries.invalidateQueries(lists);
    },
    onSettled: () => refreshAfterAct(queries, workspaceId, conversationId),
  });
}
