import { useEffect, useRef } from 'react';
import { shortcutOf } from '../../common/keys';

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
      const { target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (target instanceof Element && target.closest(FIELDS)) return;
      if ([...document.querySelectorAll(LAYERS)].some((layer) => layer.checkVisibility())) return;
      const handler = latest.current[shortcutOf(event)];
      if (!handler) return;
      event.preventDefault();
      handler();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
