/** Key press, as an event of React or of the browser describes it. */
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

/** Value of `key` that browsers set for a press that an input method handles. */
const PROCESS = 'Process';
/**
 * Key code of presses that an input method handles. In Safari, only this code marks the Enter press that ends
 * a composition.
 */
const PROCESS_CODE = 229;

/**
 * Returns the key of a press, such as `Enter`. Returns `Process` while an input method composes a text,
 * because the press then chooses or undoes a word.
 */
export function keyOf({ key, keyCode, isComposing, nativeEvent }: KeyPress): string {
  const composes = isComposing ?? nativeEvent?.isComposing ?? false;
  return composes || keyCode === PROCESS_CODE ? PROCESS : key;
}

/**
 * Reports whether a press sends the written text: Ctrl+Enter or Cmd+Enter. Excludes Alt, because Windows
 * reports AltGr as Ctrl and Alt.
 */
export function isSendPress(press: KeyPress): boolean {
  const { ctrlKey, metaKey, altKey } = press;
  return keyOf(press) === 'Enter' && (ctrlKey === true || metaKey === true) && !altKey;
}

/**
 * Returns the key of a press in lower case. If the layout's key is not ASCII, returns the letter that a US
 * keyboard has in its place.
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
