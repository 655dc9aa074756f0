import type { InfiniteData } from '@tanstack/react-query';
import type { ActiveConversation, Page } from '../../../api/types';
import type { Matter } from '../matters';

/** Returns the value by which lists are sorted: the newest message's id, or else the conversation's id. */
function activityOf({ id, lastMessageId }: ActiveConversation): string {
  return lastMessageId ?? id;
}

/**
 * Returns the loaded pages of a list after some conversations have changed. Moves each changed conversation
 * to its new place, and removes it if `rows` does not contain it.
 * @param ids ids of the changed conversations
 * @param rows changed conversations that the list still contains
 * @param view view that the list belongs to; in `waiting` those come first that have waited longest
 */
export function withChangedRows(
  { pages, ...rest }: InfiniteData<Page<ActiveConversation>>,
  ids: string[],
  rows: ActiveConversation[],
  view?: Matter,
): InfiniteData<Page<ActiveConversation>> {
  const positionOf = (row: ActiveConversation) =>
    view === 'waiting' ? (row.waitingMessageId ?? '') : activityOf(row);
  const isBefore = (one: string, other: string) => (view === 'waiting' ? one < other : one > other);
  const isChanged = new Set(ids);
  const left = new Set(rows);
  const changed = pages.map(({ data, nextCursor }) => {
    // Each page takes the changed rows down to the cursor at its end. Rows beyond all pages are left out.
    const own = [...left].filter((row) => nextCursor === null || !isBefore(nextCursor, positionOf(row)));
    for (const row of own) left.delete(row);
    const shown = [...data.filter(({ id }) => !isChanged.has(id)), ...own];
    if (own.length > 0) shown.sort((a, b) => (isBefore(positionOf(a), positionOf(b)) ? -1 : 1));
    return { data: shown, nextCursor };
  });
  return { ...rest, pages: changed };
}
