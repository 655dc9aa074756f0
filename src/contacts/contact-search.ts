export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (wildcard) => `\\${wildcard}`);
}

const PHONE = /^[\d\s()+./-]+$/;

/** Returns the digits of a phone number; null when the text cannot be part of one. */
export function phoneDigits(text: string): string | null {
  const digits = text.replace(/\D/g, '');
  return PHONE.test(text) && digits !== '' ? digits : null;
}

/** Mark of the phone's digits in a contact's search text. */
const DIGITS_MARK = '\x01';

/** Length of the shortest grams in the index. */
const SHORTEST_GRAM = 3;

/** Text to find in a contact's search text: all of `text`, or all of `digits` among the phone's digits. */
export interface SearchTerm {
  text: string;
  /**
   * Digits of a phone number; null when the text cannot be part of one, and when it is nothing but digits,
   * which `text` finds.
   */
  digits: string | null;
}

export function searchTerm(q: string): SearchTerm {
  const digits = phoneDigits(q);
  return { text: toSearchable(q), digits: digits === q ? null : digits };
}

/**
 * Returns a text in the one form in which texts are stored and searched (NFC), because a keyboard may write
 * `ë` as one character or as two.
 */
export function toSearchable<Text extends string | null | undefined>(text: Text): Text {
  return (text?.normalize('NFC') ?? text) as Text;
}

/**
 * Reports whether the search index can find a term. The index holds substrings (grams) of at least
 * SHORTEST_GRAM characters, so a shorter term has none.
 */
export function isIndexable({ text, digits }: SearchTerm): boolean {
  return [text, digits ?? text].every((part) => [...part].length >= SHORTEST_GRAM);
}

/** Returns the LIKE patterns of a term, of which one must match. */
export function searchPatterns({ text, digits }: SearchTerm): string[] {
  const patterns = [`%${escapeLike(text)}%`];
  if (digits) patterns.push(`%${DIGITS_MARK}%${digits}%`);
  return patterns;
}
