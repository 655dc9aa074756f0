import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';

/** Number of rows that are rendered above the rows in sight, and below them. */
const OVERSCAN = 10;
/** Number of rows that are rendered before the list has been laid out. */
const FIRST_ROWS = 30;
/** Number of rows in sight that are asked how far they have moved. */
const ASKED_ROWS = 5;

/**
 * Returns the indexes of the rows that are rendered of a list whose rows have one height, in its own scrolled
 * parent. A library for such lists weighs 10 kB of the 240 kB that the page may load at first.
 * @param pinned index of a row that is rendered in any case, with its neighbours: the one with the focus
 */
export function useRowsInSight(list: RefObject<HTMLElement | null>, count: number, pinned: number): number[] {
  const [range, setRange] = useState({ begin: 0, end: FIRST_ROWS });
  useLayoutEffect(() => {
    const element = list.current;
    const scroller = element?.parentElement;
    if (!element || !scroller) return undefined;
    const update = () => {
      // A list that is hidden, on a phone, stays as it is.
      if (scroller.clientHeight === 0) return;
      const next = rangeInSight(scroller, element.offsetHeight / count);
      // The frame that shows the new place shows its rows.
      flushSync(() => setRange((old) => (old.begin === next.begin && old.end === next.end ? old : next)));
    };
    // It also tells the first size.
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

/** Returns the range of the rendered rows: the rows in sight, and some beyond each edge. */
export function rangeInSight({ scrollTop, clientHeight }: Scroller, rowHeight: number) {
  return {
    begin: Math.floor(scrollTop / rowHeight) - OVERSCAN,
    end: Math.ceil((scrollTop + clientHeight) / rowHeight) + OVERSCAN,
  };
}

/** Returns the indexes that a list has of a range, and of the pinned row with its neighbours. */
export function indexesIn({ begin, end }: { begin: number; end: number }, count: number, pinned: number) {
  const indexes = new Set<number>();
  for (let index = begin; index < end; index++) indexes.add(index);
  if (pinned !== -1) for (const index of [pinned - 1, pinned, pinned + 1]) indexes.add(index);
  return [...indexes].filter((index) => index >= 0 && index < count).sort((a, b) => a - b);
}

/** Keeps the rows in sight where they are when rows come or go above them, unless the list is at its top. */
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

/**
 * Returns by how many places the rows in sight have moved down.
 * @param top index of the first row in sight, before
 */
export function rowsMoved(old: string[], ids: string[], top: number): number {
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const moves = old.slice(top, top + ASKED_ROWS).flatMap((id, nth) => {
    const index = indexes.get(id);
    return index === undefined ? [] : [index - (top + nth)];
  });
  // A row that goes up to the top by itself is not followed.
  return moves.length > 0 ? Math.max(...moves) : 0;
}
