import { useEffect, useRef } from 'react';
import { shortcutOf } from '../../common/keys';

/** Key that goes with Enter to send, as it is written on this machine's keyboard. */
export const SEND_MODIFIER = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';

/** Keys that act again while they are held down. */
const REPEATED = new Set(['j', 'k']);
/** Entry of the storage that turns the keys off in this browser. */
const OFF = 'dashboard-keys-off';

/** Selectors of elements in which keys have another meaning: fields, and things that open above the page. */
const FIELDS = 'input, textarea, select, [contenteditable]';
const LAYERS = '[role=dialog], [role=menu], [role=listbox]';

/** Reports whether the keys act in this browser. Speech input may press them unmeant (WCAG 2.1.4). */
export function areKeysOn(): boolean {
  return localStorage.getItem(OFF) === null;
}

export function turnKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'true');
}

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
      // Linux does not report AltGr as Alt.
      if (event.getModifierState('AltGraph')) return;
      if (target instanceof Element && target.closest(FIELDS)) return;
      if ([...document.querySelectorAll(LAYERS)].some((layer) => layer.checkVisibility())) return;
      const key = shortcutOf(event);
      const handler = latest.current[key];
      if (!handler || (event.repeat && !REPEATED.has(key)) || !areKeysOn()) return;
      event.preventDefault();
      handler();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
