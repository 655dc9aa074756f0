import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { useWorkspace } from '../../../api/workspace';
import { toSearch, useInboxFilter } from '../inbox-filter';
import { useHasReply } from '../reply/kept-replies';
import { nearestTo } from './nearest';

interface ShownList {
  element: RefObject<HTMLElement | null>;
  ids: string[];
  focusRow: (id: string) => void;
}

/** Ids of the list's conversations at the last time when the open conversation was in the list. */
interface LastList {
  openId: string;
  ids: string[];
}

let shown: ShownList | null = null;
let lastList: LastList | null = null;

/** Stores which list the page shows, and the list's last state that contained the open conversation. */
export function useShownList(list: ShownList, openId: string | undefined): void {
  useLayoutEffect(() => {
    shown = list;
    if (openId !== undefined && list.ids.includes(openId)) lastList = { openId, ids: list.ids };
  });
  useLayoutEffect(
    () => () => {
      shown = null;
      lastList = null;
    },
    [],
  );
}

/** Returns the id of the conversation after a given one in the list, or else of the one before it. */
function neighbourOf(conversationId: string): string | undefined {
  return lastList?.openId === conversationId
    ? nearestTo(conversationId, lastList.ids, shown?.ids ?? [])
    : undefined;
}

/**
 * Returns a function to call when the person has finished the open conversation: it opens the next one of the
 * list. If the list is hidden, as on a phone, or has no other conversation, it shows the list. It does
 * nothing if the conversation was not in the list, is no longer open, or has a draft or unsent reply.
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
    if (!isOpen.current || lastList?.openId !== conversationId || hasReply()) return;
    const search = toSearch(filter);
    const next = neighbourOf(conversationId);
    if (next !== undefined && shown?.element.current?.checkVisibility()) {
      // Focuses the row first, so that J and K continue from it. The conversation then takes the focus.
      flushSync(() => shown?.focusRow(next));
      void navigate({ to: '/w/$slug/inbox/$conversationId', params: { slug, conversationId: next }, search });
    } else {
      void navigate({ to: '/w/$slug/inbox', params: { slug }, search });
    }
  }, [conversationId, slug, filter, navigate, hasReply]);
}

/** Moves the focus back to the list after the person leaves a conversation, if possible to its row. */
export function useFocusOnReturn(openId: string | undefined) {
  const section = useRef<HTMLElement>(null);
  const left = useRef(openId);
  useEffect(() => {
    const id = left.current;
    left.current = openId;
    if (openId !== undefined || id === undefined || document.activeElement !== document.body) return;
    const row = shown?.ids.includes(id) ? id : neighbourOf(id);
    if (row === undefined) section.current?.focus();
    else shown!.focusRow(row);
  }, [openId]);
  return section;
}
