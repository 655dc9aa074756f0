/**
 * Characters without ink: spaces, line breaks, controls, and characters that Unicode lets a program leave
 * out.
 */
const UNSEEN = String.raw`[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}\u2800]`;
/** Matches a run only from its first character on: otherwise a long one would take quadratic time. */
const AT_AN_END = new RegExp(`^${UNSEEN}+|(?<!${UNSEEN})${UNSEEN}+$`, 'gu');
/**
 * Any of them but the ones that an address may have inside: a space, joiners of letters and variants of
 * signs.
 */
const INSIDE = new RegExp(String.raw`(?![ \u200c\u200d\ufe00-\ufe0f])${UNSEEN}`, 'u');

/** Returns a text without the characters at its ends that cannot be seen, such as a copy brings along. */
export function trimUnseen(text: string): string {
  return text.replace(AT_AN_END, '');
}

/** Returns the first character that cannot be seen inside an address, as `U+200B`; null without one. */
export function findUnseen(address: string): string | null {
  const found = INSIDE.exec(address)?.[0].codePointAt(0);
  return found === undefined ? null : `U+${found.toString(16).toUpperCase().padStart(4, '0')}`;
}
