import { useEffect, useState } from 'react';
import type { ActiveConversation } from '../../../api/types';
import type { InboxFilter } from '../inbox-filter';
import { useConversation, useListed } from '../use-inbox';
import { withKeptRow } from './kept-row';

/** Filter and rows of the list at the last time when it contained the open conversation. */
interface Kept {
  filter: InboxFilter;
  items: ActiveConversation[];
  openId: string;
}

/** Keeps the open conversation's row in the list of unassigned conversations after its assignment. */
export function useKeptRow(
  items: ActiveConversation[] | undefined,
  filter: InboxFilter,
  openId: string | undefined,
): ActiveConversation[] | undefined {
  const [kept, setKept] = useState<Kept | null>(null);
  const isIn = items?.some(({ id }) => id === openId) ?? false;
  useEffect(() => {
    if (items && openId !== undefined && isIn) setKept({ filter, items, openId });
  }, [items, filter, openId, isIn]);
  const isLost =
    !isIn && filter.view === 'nobody' && kept !== null && kept.openId === openId && kept.filter === filter;
  const keptId = isLost ? openId : undefined;
  const now = useConversation(keptId).data;
  const listed = useListed(keptId, filter.status);
  if (!items || !isLost || now?.status !== filter.status) return items;

  // Until the row is read again, the former row is shown with the new assigned agent.
  const was = kept.items.find(({ id }) => id === openId)!;
  return withKeptRow(items, kept.items, listed ?? { ...was, assignedAgentId: now.assignedAgentId });
}
