import { type FocusEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { useKeys } from '../use-keys';
import { nearestTo } from './nearest';

/** Attribute of the links of the list. */
export const ROW = 'data-conversation';

/** The row that has the focus, or gets it as soon as it is rendered. */
interface Focus {
  id: string;
  isWanted: boolean;
}

/**
 * Moves the focus through the list by J and K; Enter follows the focused link by itself. A focused row that
 * leaves the list hands the focus to its neighbour, and the last one to the section around the list.
 */
export function useRowFocus(
  list: RefObject<HTMLElement | null>,
  section: RefObject<HTMLElement | null>,
  ids: string[],
  openId: string | undefined,
) {
  const [focus, setFocus] = useState<Focus | null>(null);
  const before = useRef(ids);
  // An open conversation may have left the list: the next one has moved to its position.
  const position = useRef(-1);
  const focusRow = (id: string) => setFocus({ id, isWanted: true });
  const move = (step: number) => {
    if (ids.length === 0 || !list.current?.checkVisibility()) return;
    const at = ids.indexOf(focus?.id ?? openId ?? '');
    const next = at === -1 ? Math.max(0, position.current - (step < 0 ? 1 : 0)) : at + step;
    position.current = Math.min(Math.max(0, next), ids.length - 1);
    focusRow(ids[position.current]!);
  };
  useKeys({ j: () => move(1), k: () => move(-1) });

  useLayoutEffect(() => {
    if (!focus?.isWanted) return;
    list.current?.querySelector<HTMLElement>(`[${ROW}="${focus.id}"]`)?.focus();
  }, [focus, list]);

  useLayoutEffect(() => {
    const old = before.current;
    before.current = ids;
    if (focus === null || ids.includes(focus.id)) return;
    const next = nearestTo(focus.id, old, ids);
    if (document.activeElement !== document.body) return setFocus(null);
    if (next !== undefined) return focusRow(next);
    setFocus(null);
    section.current?.focus();
  }, [ids, focus, section]);

  return {
    focusedId: focus?.id ?? null,
    focusRow,
    handlers: {
      onFocus: ({ target }: FocusEvent) => {
        const id = target.getAttribute(ROW);
        setFocus(id === null ? null : { id, isWanted: false });
      },
      onBlur: ({ target, currentTarget, relatedTarget }: FocusEvent) => {
        // While another window is in front, the row stays the one that will have the focus. A row out of
        // sight that gets the focus next must stay until it has it.
        if (document.activeElement === target || currentTarget.contains(relatedTarget)) return;
        setFocus(null);
      },
    },
  };
}
