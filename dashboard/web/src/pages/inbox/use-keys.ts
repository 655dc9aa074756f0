import { useEffect, useRef } from 'react';
import { shortcutOf } from '../../common/keys';

/** Name of the key that sends a text together with Enter, as on this device's keyboard. */
export const SEND_MODIFIER = /Mac|iPhone|iPad/.test(navigator.platform) ? '⌘' : 'Ctrl';

const REPEATED = new Set(['j', 'k']);
/** Name of an entry in the browser's storage that turns keyboard shortcuts off. */
const OFF = 'dashboard-keys-off';

/** Selectors of elements that turn shortcuts off: a focused field, or an open dialog, menu or list. */
const FIELDS = 'input, textarea, select, [contenteditable]';
const LAYERS = '[role=dialog], [role=menu], [role=listbox]';

/** Reports whether keyboard shortcuts are on. People who use speech input turn them off (WCAG 2.1.4). */
export function areKeysOn(): boolean {
  return localStorage.getItem(OFF) === null;
}

export function turnKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(OFF);
  else localStorage.setItem(OFF, 'true');
}

/** Calls a function when its key is pressed, unless a field has the focus or a dialog or menu is open. */
export function useKeys(handlers: Record<string, () => void>): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const { target } = event;
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      // Needed on Linux, where AltGr is not reported as Alt.
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
