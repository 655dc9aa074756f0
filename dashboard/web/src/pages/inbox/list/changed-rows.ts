import type { InfiniteData } from '@tanstack/react-query';
import type { ActiveConversation, Page } from '../../../api/types';

/** Returns where a conversation stands in a list: its newest message, or before the first one itself. */
function activityOf({ id, lastMessageId }: ActiveConversation): string {
  return lastMessageId ?? id;
}

/**
 * Returns the loaded pages of a list after changes in some conversations: each stands where it belongs now,
 * or nowhere.
 * @param ids the conversations that have changed
 * @param rows those of them that the list has
 */
export function withChangedRows(
  { pages, ...rest }: InfiniteData<Page<ActiveConversation>>,
  ids: string[],
  rows: ActiveConversation[],
): InfiniteData<Page<ActiveConversation>> {
  const isChanged = new Set(ids);
  const left = new Set(rows);
  const changed = pages.map(({ data, nextCursor }) => {
    // A page has what is at least as new as its cursor. What is older than the last page is not loaded.
    const own = [...left].filter((row) => nextCursor === null || activityOf(row) >= nextCursor);
    for (const row of own) left.delete(row);
    const shown = [...data.filter(({ id }) => !isChanged.has(id)), ...own];
    if (own.length > 0) shown.sort((a, b) => (activityOf(a) < activityOf(b) ? 1 : -1));
    return { data: shown, nextCursor };
  });
  return { ...rest, pages: changed };
}
