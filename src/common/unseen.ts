/**
 * Pattern of characters that cannot be seen: spaces, line breaks, controls, and characters that Unicode
 * allows programs not to display.
 */
const UNSEEN = String.raw`[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]`;
/**
 * Pattern of unseen characters at the ends of a text. The lookbehind lets a series of them match only from
 * its first character, because otherwise a long series would take quadratic time.
 */
const AT_AN_END = new RegExp(`^${UNSEEN}+|(?<!${UNSEEN})${UNSEEN}+$`, 'gu');
/** Pattern of unseen characters that an address must not have: not spaces, joiners or variation selectors. */
const INSIDE = new RegExp(String.raw`(?![ \u200c\u200d\ufe00-\ufe0f])${UNSEEN}`, 'u');

/** Removes characters that cannot be seen, such as people copy by accident, from both ends of a text. */
export function trimUnseen(text: string): string {
  return text.replace(AT_AN_END, '');
}

/** Returns the first unseen character that an address must not have, such as `U+200B`; null without one. */
export function findUnseen(address: string): string | null {
  const found = INSIDE.exec(address)?.[0].codePointAt(0);
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}
