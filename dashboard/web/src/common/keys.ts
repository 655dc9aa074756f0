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
/** Key code of an input method's press. In Safari, only this code marks the Enter that ends a composition. */
const PROCESS_CODE = 229;

/** Returns the key of a press, or `Process` if an input method uses the press to compose a text. */
export function keyOf({ key, keyCode, isComposing, nativeEvent }: KeyPress): string {
  const composes = isComposing ?? nativeEvent?.isComposing ?? false;
  return composes || keyCode === PROCESS_CODE ? PROCESS : key;
}

/** Reports a press of Ctrl+Enter or Cmd+Enter. Excludes Alt, because Windows reports AltGr as Ctrl+Alt. */
export function isSendPress(press: KeyPress): boolean {
  const { ctrlKey, metaKey, altKey } = press;
  return keyOf(press) === 'Enter' && (ctrlKey === true || metaKey === true) && !altKey;
}

/** Returns a press's key in lower case. If it is not ASCII, returns the US keyboard's letter at its place. */
export function shortcutOf(press: KeyPress): string {
  const key = keyOf(press);
  const { code, shiftKey } = press;
  const isForeign = /^\P{ASCII}+$/u.test(key);
  if (isForeign && /^Key[A-Z]$/.test(code)) return code.slice(-1).toLowerCase();
  // Cyrillic and Hebrew layouts have the full stop and the comma where a US keyboard has the slash.
  if (code === 'Slash' && (isForeign || key === '.' || key === ',')) return shiftKey ? '?' : '/';
  return key.toLowerCase();
}
