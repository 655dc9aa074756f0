import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import { useWorkspace } from '../../../api/workspace';
import { toSearch, useInboxFilter } from '../inbox-filter';
import { useHasReply } from '../reply/kept-replies';
import { nearestTo } from './nearest';

/** The list on the screen. */
interface ShownList {
  element: RefObject<HTMLElement | null>;
  ids: string[];
  /** Moves the focus to a row. */
  focusRow: (id: string) => void;
}

/** The list when the open conversation was last in it. A closed conversation has left the list since. */
interface LastList {
  openId: string;
  ids: string[];
}

let shown: ShownList | null = null;
let lastList: LastList | null = null;

/** Tells the open conversation which list is on the screen, and remembers where in it the conversation is. */
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

/** Returns the conversation that follows one in the list, or else the one before it. */
function neighbourOf(conversationId: string): string | undefined {
  return lastList?.openId === conversationId
    ? nearestTo(conversationId, lastList.ids, shown?.ids ?? [])
    : undefined;
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
    if (!isOpen.current || lastList?.openId !== conversationId || hasReply()) return;
    const search = toSearch(filter);
    const next = neighbourOf(conversationId);
    if (next !== undefined && shown?.element.current?.checkVisibility()) {
      // The conversation takes the focus from its row, where J and K go on.
      flushSync(() => shown?.focusRow(next));
      void navigate({ to: '/w/$slug/inbox/$conversationId', params: { slug, conversationId: next }, search });
    } else {
      void navigate({ to: '/w/$slug/inbox', params: { slug }, search });
    }
  }, [conversationId, slug, filter, navigate, hasReply]);
}

/** Gives the focus back to the list when a conversation is left: to its row, the next one, or the list. */
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
