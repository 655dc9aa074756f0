import { useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect, useRef } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { toSearch, useInboxFilter } from '../inbox-filter';
import { useHasReply } from '../reply/kept-replies';
import { ROW } from '../use-keys';

/** The list when the open conversation was last in it. What is closed has left the list by then. */
interface Place {
  openId: string;
  ids: string[];
}

let place: Place | null = null;

/** Remembers where in the list the open conversation is, while that list is shown. */
export function useRememberedPlace(items: { id: string }[] | undefined, openId: string | undefined): void {
  useEffect(() => {
    const ids = items?.map(({ id }) => id) ?? [];
    if (openId !== undefined && ids.includes(openId)) place = { openId, ids };
  }, [items, openId]);
  useEffect(
    () => () => {
      place = null;
    },
    [],
  );
}

/** Returns the row that follows a conversation in the list, or else the one before it. */
function neighbourOf(conversationId: string): HTMLElement | undefined {
  if (place?.openId !== conversationId) return undefined;
  const { ids } = place;
  const at = ids.indexOf(conversationId);
  const nearest = [...ids.slice(at + 1), ...ids.slice(0, at).toReversed()];
  return nearest.map(rowOf).find((row) => row !== undefined);
}

function rowOf(conversationId: string): HTMLElement | undefined {
  return document.querySelector<HTMLElement>(`[${ROW}="${conversationId}"]`) ?? undefined;
}

/**
 * Returns a function that opens the next conversation of the list, once the person has done with this one.
 * Where the list is a page of its own, or has no other conversation, it goes back to the list. It stays where
 * it is when this conversation was not in the list, or is not open any more, and while a reply to it is being
 * written or sent.
 */
export function useAdvance(conversationId: string): () => void {
  const { slug } = useWorkspace();
  const filter = useInboxFilter();
  const navigate = useNavigate();
  const hasReply = useHasReply(conversationId);
  const isOpen = useRef(false);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
  return useCallback(() => {
    if (!isOpen.current || place?.openId !== conversationId || hasReply()) return;
    const next = neighbourOf(conversationId);
    if (next?.checkVisibility()) {
      // The conversation takes the focus from its row, where J and K go on.
      next.focus();
      next.click();
    } else {
      void navigate({ to: '/w/$slug/inbox', params: { slug }, search: toSearch(filter) });
    }
  }, [conversationId, slug, filter, navigate, hasReply]);
}

/** Gives the focus back to the list when a conversation is left: to its row, the next one, or the list. */
export function useFocusOnReturn(openId: string | undefined) {
  const list = useRef<HTMLElement>(null);
  const left = useRef(openId);
  useEffect(() => {
    const id = left.current;
    left.current = openId;
    if (openId !== undefined || id === undefined || document.activeElement !== document.body) return;
    (rowOf(id) ?? neighbourOf(id) ?? list.current)?.focus();
  }, [openId]);
  return list;
}
