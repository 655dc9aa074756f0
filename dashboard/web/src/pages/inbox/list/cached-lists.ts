import { type Query, type QueryClient } from '@tanstack/react-query';
import { api, toQuery } from '../../../api/client';
import type { ActiveConversation, Channel, ConversationStatus, Page } from '../../../api/types';
import { withChangedRows } from './changed-rows';
import {
  beginChange,
  type ConversationValues,
  type PendingChange,
  readWithChanges,
} from '../pending-changes';
import { type Pages, keyOf, refreshCounts, refreshOpen } from '../inbox-cache';

/** Limit of the ids that one read of a list names. */
const MAX_NAMED = 100;

/** Word for no agent, where an agent's id may stand. */
export const NOBODY = 'nobody';

/** Query by which the server is asked for a list of conversations. */
export interface ListQuery {
  status?: ConversationStatus;
  view?: 'lost';
  channel?: Channel;
  assignedAgentId?: string;
  /** Id of the only conversation that the list may have; null as long as it has none. */
  onlyId?: string | null;
}

export type List = Pages<ActiveConversation>;

/** Returns a list's query as the server knows it. */
export function toParameters({ onlyId, ...query }: ListQuery) {
  return { ...query, ids: onlyId ?? undefined };
}

/**
 * Makes a change in a page of a list. A conversation that the list's filter no longer has leaves the page.
 */
export function withChange(
  page: Page<ActiveConversation>,
  { conversationId, change }: Omit<PendingChange, 'isRefused'>,
  { status, view, assignedAgentId }: ListQuery,
): Page<ActiveConversation> {
  const isShown = (one: ActiveConversation) =>
    (status === undefined || one.status === status) &&
    (view === undefined || (one.lost !== null && change.status !== 'CLOSED')) &&
    (assignedAgentId === undefined || (one.assignedAgentId ?? NOBODY) === assignedAgentId);
  const data = page.data.flatMap((one) => {
    if (one.id !== conversationId) return [one];
    const changed = { ...one, ...change };
    return isShown(changed) ? [changed] : [];
  });
  return { ...page, data };
}

/** Reads the conversation, its rows and the counts again, after a change of the conversation. */
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
      // The reads of one list follow each other, so that the newest answer counts.
      const before = rowReads.get(list) ?? Promise.resolve();
      const read = before.then(() => refreshRows(queries, workspaceId, list, conversationIds));
      rowReads.set(list, read);
      return read;
    }),
  );
}

/** Last read of rows of each list. */
const rowReads = new WeakMap<Query<List>, Promise<void>>();

/** Reads conversations of one list again, after a read of the list that is running. */
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
  // A page that is read meanwhile would otherwise put the others back as they were.
  await untilRead(list);
  // The next poll or notice reads the whole list.
  if (!rows) return queries.invalidateQueries({ queryKey, exact: true, refetchType: 'none' });
  const { data, dataUpdatedAt, isInvalidated } = list.state;
  if (!data || isInvalidated) return queries.invalidateQueries({ queryKey, exact: true });
  // A list that was read meanwhile may be newer than the answer.
  if (dataUpdatedAt > begunAt) return refreshRows(queries, workspaceId, list, ids);
  queries.setQueryData(queryKey, withChangedRows(data, ids, rows.data), { updatedAt: dataUpdatedAt });
}

async function untilRead(list: Query<List>): Promise<void> {
  while (list.promise && list.state.fetchStatus === 'fetching') await list.promise.catch(() => undefined);
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

/** Returns lists of conversations: all cached ones, or only the ones that the page shows. */
export function findLists(
  queries: QueryClient,
  workspaceId: string,
  type: 'all' | 'active' = 'all',
): Query<List>[] {
  const queryKey = keyOf(workspaceId, 'list');
  return queries.getQueryCache().findAll({ queryKey, type }) as unknown as Query<List>[];
}

/**
 * Shows a change of a conversation in the lists that have it, each in its place. The lists count as no newer
 * than before. Answers of running reads get the change too, until it has ended.
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
    const pages = withChangedRows(data, [conversationId], changed);
    queries.setQueryData(list.queryKey, pages, { updatedAt: dataUpdatedAt });
    if (isInvalidated) list.invalidate();
  }
  return beginChange(conversationId, change);
}
