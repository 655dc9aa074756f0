/**
 * Limit of the characters of a name in a mail. Strangers can choose a name, and it must not look like a part
 * of the mail.
 */
const MAX_NAME = 80;

/** Returns a name in one line, cut, without characters from which mail programs make a link. */
export function plainText(name: string): string {
  const line = name
    .replace(/\s+/gu, ' ')
    .replace(/(?:https?:)?\/\//gi, '')
    .trim();
  return [...line].slice(0, MAX_NAME).join('');
}
