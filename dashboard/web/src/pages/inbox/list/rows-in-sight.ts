import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/** Number of rows that are rendered beyond each edge of the visible part of the list. */
const OVERSCAN = 10;
/** Number of rows that are rendered before the list has been laid out. */
const FIRST_ROWS = 30;
/** Number of visible rows whose moves are compared to find out how far the list has moved. */
const ASKED_ROWS = 5;

/**
 * Returns the indexes of the rows to render. All rows have the same height, and the list's parent element
 * scrolls. A library for this would add 10 kB to the 240 kB that the page may load at first.
 * @param pinned index of the focused row, which is rendered even if it is not visible; -1 without a focused
 *   row
 */
export function useRowsInSight(list: RefObject<HTMLElement | null>, count: number, pinned: number): number[] {
  const [range, setRange] = useState({ begin: 0, end: FIRST_ROWS });
  useLayoutEffect(() => {
    const element = list.current;
    const scroller = element?.parentElement;
    if (!element || !scroller) return undefined;
    const update = () => {
      // A list that is hidden, as on a phone, has no height.
      if (scroller.clientHeight === 0) return;
      const next = rangeInSight(scroller, element.offsetHeight / count);
      // Renders at once, so that the frame with the new scroll position shows its rows.
      flushSync(() => setRange((old) => (old.begin === next.begin && old.end === next.end ? old : next)));
    };
    // The observer also reports the initial size, so `update` needs no call of its own.
    const observer = new ResizeObserver(update);
    observer.observe(scroller);
    observer.observe(element);
    scroller.addEventListener('scroll', update, { passive: true });
    return () => {
      observer.disconnect();
      scroller.removeEventListener('scroll', update);
    };
  }, [list, count]);
  return indexesIn(range, count, pinned);
}

type Scroller = Pick<HTMLElement, 'scrollTop' | 'clientHeight'>;

/** Returns the indexes from the first to the last visible row, with `OVERSCAN` more at each end. */
export function rangeInSight({ scrollTop, clientHeight }: Scroller, rowHeight: number) {
  return {
    begin: Math.floor(scrollTop / rowHeight) - OVERSCAN,
    end: Math.ceil((scrollTop + clientHeight) / rowHeight) + OVERSCAN,
  };
}

/** Returns the indexes of a range and of the pinned row with its neighbours, without invalid ones. */
export function indexesIn({ begin, end }: { begin: number; end: number }, count: number, pinned: number) {
  const indexes = new Set<number>();
  for (let index = begin; index < end; index++) indexes.add(index);
  if (pinned !== -1) for (const index of [pinned - 1, pinned, pinned + 1]) indexes.add(index);
  return [...indexes].filter((index) => index >= 0 && index < count).sort((a, b) => a - b);
}

/** Scrolls the list when rows come or go above the visible rows, so that these stay in place. */
export function useSteadyRows(list: RefObject<HTMLElement | null>, ids: string[]): void {
  const before = useRef(ids);
  useLayoutEffect(() => {
    const old = before.current;
    before.current = ids;
    const scroller = list.current?.parentElement;
    if (old === ids || ids.length === 0 || !scroller || scroller.scrollTop === 0) return;
    const height = list.current!.offsetHeight / ids.length;
    const top = Math.floor(scroller.scrollTop / height);
    scroller.scrollTop += rowsMoved(old, ids, top) * height;
  }, [list, ids]);
}

/** Returns by how many places visible rows have moved down. `top` is the first one's index in `old`. */
export function rowsMoved(old: string[], ids: string[], top: number): number {
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const moves = old.slice(top, top + ASKED_ROWS).flatMap((id, nth) => {
    const index = indexes.get(id);
    return index === undefined ? [] : [index - (top + nth)];
  });
  // Takes the largest move, because the move of a row that has jumped to the top is negative.
  return moves.length > 0 ? Math.max(...moves) : 0;
}
