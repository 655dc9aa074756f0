/** Press of a key, as React's and the browser's events tell it. */
interface KeyPress {
  key: string;
  code: string;
  shiftKey: boolean;
  keyCode: number;
  ctrlKey?: boolean;
  metaKey?: boolean;
  altKey?: boolean;
  isComposing?: boolean;
  nativeEvent?: { isComposing: boolean };
}

/** Key of presses that belong to an input method, as browsers name it. */
const PROCESS = 'Process';
/** Key code of such presses. Safari has nothing else to tell by when Enter ends a composition. */
const PROCESS_CODE = 229;

/**
 * Returns the key of a press, such as `Enter`. While an input method composes a text it is `Process`, because
 * the press chooses or undoes a word.
 */
export function keyOf({ key, keyCode, isComposing, nativeEvent }: KeyPress): string {
  const composes = isComposing ?? nativeEvent?.isComposing ?? false;
  return composes || keyCode === PROCESS_CODE ? PROCESS : key;
}

/** Reports whether a press sends the written text. Windows reports AltGr as Ctrl and Alt. */
export function isSendPress(press: KeyPress): boolean {
  const { ctrlKey, metaKey, altKey } = press;
  return keyOf(press) === 'Enter' && (ctrlKey === true || metaKey === true) && !altKey;
}

/**
 * Returns the key of a press as a US keyboard has it, in lower case, if the layout has no Latin letter there;
 * otherwise the layout's own.
 */
export function shortcutOf(press: KeyPress): string {
  const key = keyOf(press);
  const { code, shiftKey } = press;
  const isForeign = /^\P{ASCII}+$/u.test(key);
  if (isForeign && /^Key[A-Z]$/.test(code)) return code.slice(-1).toLowerCase();
  // Cyrillic and Hebrew layouts have the full stop and the comma where a US keyboard has the slash.
  if (code === 'Slash' && (isForeign || key === '.' || key === ',')) return shiftKey ? '?' : '/';
  return key.toLowerCase();
}
