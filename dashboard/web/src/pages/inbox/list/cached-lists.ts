import { type Query, type QueryClient } from '@tanstack/react-query';
import { api, toQuery } from '../../../api/client';
import type { ActiveConversation, Channel, ConversationStatus, Page } from '../../../api/types';
import type { Matter } from '../matters';
import { withChangedRows } from './changed-rows';
import {
  beginChange,
  type ConversationValues,
  type PendingChange,
  readWithChanges,
} from '../pending-changes';
import { type Pages, keyOf, refreshCounts, refreshOpen } from '../inbox-cache';

/** Largest number of ids in one request for a list. */
const MAX_NAMED = 100;

/** Value of `assignedAgentId` that stands for no assigned agent. */
export const NOBODY = 'nobody';

export interface ListQuery {
  status?: ConversationStatus;
  view?: Matter;
  channel?: Channel;
  assignedAgentId?: string;
  /** Id of the only conversation to read; null while there is none, so that nothing is read. */
  onlyId?: string | null;
}

export type List = Pages<ActiveConversation>;

/** Returns a list's query with the server's names of parameters. */
export function toParameters({ onlyId, ...query }: ListQuery) {
  return { ...query, ids: onlyId ?? undefined };
}

/** Applies a change to a page of a list. Removes a conversation that no longer matches the list's filter. */
export function withChange(
  page: Page<ActiveConversation>,
  { conversationId, change }: Omit<PendingChange, 'isRefused'>,
  { status, view, assignedAgentId }: ListQuery,
): Page<ActiveConversation> {
  const isShown = (one: ActiveConversation) =>
    (status === undefined || one.status === status) &&
    (view !== 'lost' || (one.lost !== null && change.status !== 'CLOSED')) &&
    (view !== 'waiting' || (one.waitingMessageId !== null && one.status === 'OPEN')) &&
    (assignedAgentId === undefined || (one.assignedAgentId ?? NOBODY) === assignedAgentId);
  const data = page.data.flatMap((one) => {
    if (one.id !== conversationId) return [one];
    const changed = { ...one, ...change };
    return isShown(changed) ? [changed] : [];
  });
  return { ...page, data };
}

/** Reads a conversation, its rows in lists and the counts again after a change of the conversation. */
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

/** Reads the given conversations for each shown list, and updates their rows. Marks hidden lists as stale. */
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
      // Reads of one list run one after the other, so that the newest answer counts.
      const before = rowReads.get(list) ?? Promise.resolve();
      const read = before.then(() => refreshRows(queries, workspaceId, list, conversationIds));
      rowReads.set(list, read);
      return read;
    }),
  );
}

/** Latest read of single rows by list. The next such read of the list waits for it. */
const rowReads = new WeakMap<Query<List>, Promise<void>>();

/** Reads the given conversations of one list, after a running read of the whole list has ended. */
async function refreshRows(
  queries: QueryClient,
  workspaceId: string,
  list: Query<List>,
  conversationIds: string[],
): Promise<void> {
  const { queryKey } = list;
  const query = queryKey.at(-1) as ListQuery;
  const ids = conversationIds.filter((id) => query.onlyId === undefined || id === query.onlyId);
  if (ids.length === 0) return;
  const named = toQuery({ ...toParameters(query), ids, limit: ids.length });
  await untilRead(list);
  const begunAt = Date.now();
  const rows = await readWithChanges(
    () => api.get<Page<ActiveConversation>>(`/workspaces/${workspaceId}/conversations${named}`),
    (page, change) => withChange(page, change, query),
  ).catch(() => null);
  // A read of the whole list that has begun meanwhile would overwrite these rows, so it must end first.
  await untilRead(list);
  // If the read failed, marks the list as stale, so that the next poll or change reads it as a whole.
  if (!rows) return queries.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
  const { data, dataUpdatedAt, isInvalidated } = list.state;
  if (!data || isInvalidated) return queries.invalidateQueries({ queryKey, exact: true });
  // Reads the rows again, because an answer for the whole list has come meanwhile and may be newer.
  if (dataUpdatedAt > begunAt) return refreshRows(queries, workspaceId, list, ids);
  const changed = withChangedRows(data, ids, rows.data, query.view);
  queries.setQueryData(queryKey, changed, { updatedAt: dataUpdatedAt });
}

async function untilRead(list: Query<List>): Promise<void> {
  while (list.promise && list.state.fetchStatus === 'fetching') await list.promise.catch(() => undefined);
}

/** Reports whether a loaded list shows that the person has read a conversation up to a message. */
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

/** Reports whether loaded lists contain a conversation, and all of them show it with the given `isUnread`. */
export function isShownAs(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  isUnread: boolean,
): boolean {
  const rows = rowsOf(queries, workspaceId, conversationId);
  return rows.length > 0 && rows.every((row) => row.isUnread === isUnread);
}

export function rowsOfContacts(queries: QueryClient, workspaceId: string, contactIds: string[]): string[] {
  const ids = new Set(contactIds);
  return allRows(queries, workspaceId)
    .filter(({ contact }) => ids.has(contact.id))
    .map(({ id }) => id);
}

export function rowsOf(
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

/** Returns cached lists of conversations: all, or only the active ones, which the page shows. */
export function findLists(
  queries: QueryClient,
  workspaceId: string,
  type: 'all' | 'active' = 'all',
): Query<List>[] {
  const queryKey = keyOf(workspaceId, 'list');
  return queries.getQueryCache().findAll({ queryKey, type }) as unknown as Query<List>[];
}

/**
 * Shows a change in all cached lists that contain the conversation, and moves its row to its new place. Also
 * applies the change to answers of reads that run before `endChange` is called. Keeps `dataUpdatedAt`, so
 * that the next read of a whole list is not delayed.
 */
export function showChange(
  queries: QueryClient,
  workspaceId: string,
  conversationId: string,
  change: ConversationValues,
): PendingChange {
  for (const list of findLists(queries, workspaceId)) {
    const { data, dataUpdatedAt, isInvalidated } = list.state;
    const row = data?.pages.flatMap((page) => page.data).find(({ id }) => id === conversationId);
    if (!data || !row) continue;
    const query = list.queryKey.at(-1) as ListQuery;
    const changed = withChange({ data: [row], nextCursor: null }, { conversationId, change }, query).data;
    const pages = withChangedRows(data, [conversationId], changed, query.view);
    queries.setQueryData(list.queryKey, pages, { updatedAt: dataUpdatedAt });
    if (isInvalidated) list.invalidate();
  }
  return beginChange(conversationId, change);
}
