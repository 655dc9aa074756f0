import { useEffect, useRef } from 'react';

/** Key that goes with Enter to send, as it is written on this machine's keyboard. */
export const SEND_MODIFIER = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** Selectors of where keys have another meaning: fields, and what opens above the page. */
const FIELDS = 'input, textarea, select, [contenteditable]';
const LAYERS = '[role=dialog], [role=menu], [role=listbox]';

/**
 * Calls a function when its key is pressed, such as `j`, unless the person types or something is open above
 * the page.
 */
export function useKeys(handlers: Record<string, () => void>): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target, key } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof Element && target.closest(FIELDS)) return;
      if ([...document.querySelectorAll(LAYERS)].some((layer) => layer.checkVisibility())) return;
      const handler = latest.current[key.toLowerCase()];
      if (!handler) return;
      event.preventDefault();
      handler();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Attribute of the links of the list. */
export const ROW = 'data-conversation';

/** Moves the focus through the list by J and K. Enter follows the focused link by itself. */
export function useListKeys(onShowKeys: () => void): void {
  // An open conversation may have left the list: the next one has moved to its place.
  const place = useRef(-1);
  const move = (step: number) => {
    const rows = [...document.querySelectorAll<HTMLElement>(`[${ROW}]`)];
    const focused = rows.indexOf(document.activeElement as HTMLElement);
    const open = rows.findIndex((row) => row.ariaCurrent === 'page');
    const at = focused === -1 ? open : focused;
    const next = at === -1 ? Math.max(0, place.current - (step < 0 ? 1 : 0)) : at + step;
    const row = rows[Math.min(Math.max(0, next), rows.length - 1)];
    if (!row) return;
    place.current = rows.indexOf(row);
    row.focus();
  };
  useKeys({ j: () => move(1), k: () => move(-1), '?': onShowKeys });
}
