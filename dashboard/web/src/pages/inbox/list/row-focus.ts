import { type FocusEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { useKeys } from '../use-keys';
import { nearestTo } from './nearest';

/** Attribute of the list's links; its value is the conversation's id. */
export const ROW = 'data-conversation';

interface Focus {
  id: string;
  isWanted: boolean;
}

/** Moves the focus by J and K. If the focused row leaves the list, the nearest row gets the focus. */
export function useRowFocus(
  list: RefObject<HTMLElement | null>,
  section: RefObject<HTMLElement | null>,
  ids: string[],
  openId: string | undefined,
) {
  const [focus, setFocus] = useState<Focus | null>(null);
  const before = useRef(ids);
  // Index of the row that J or K focused last. If that row leaves the list, the next one has this index.
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
        // Does nothing while another window is in front, because this row remains the focused one. Does
        // nothing if another row gets the focus, because that row must stay rendered until it has the focus.
        if (document.activeElement === target || currentTarget.contains(relatedTarget)) return;
        setFocus(null);
      },
    },
  };
}
