import { foldText } from '../common/folded-text';
import { readPhone, splitCountryCode } from './phone-number';

export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (wildcard) => `\\${wildcard}`);
}

/** First character of the lines of a search text that contain a phone number's digits. */
const DIGITS_MARK = '\x01';

/** Copied link or sender that contains an e-mail address, such as `Ana <ana@example.com>`. */
const EMAIL = /^(?:mailto:|[^<>]*<)([^<>?\s]+@[^<>?\s]+)(?:\?.*|>)?$/;

/** Number of characters of the shortest substrings (grams) in the search index. */
const SHORTEST_GRAM = 3;

/**
 * Returns the text by which searches find a contact: a line for each searched value, and a line for each form
 * of the phone number's digits.
 */
export function contactSearchText({
  name,
  email,
  phone,
}: {
  name: string | null;
  email: string | null;
  phone: string | null;
}): string {
  const number = phone === null ? null : readPhone(phone);
  const numbers = (number?.digits ?? []).map((digits) => DIGITS_MARK + number!.prefix + digits);
  return [...[name, email, phone].map((value) => foldText(value ?? '').trim()), ...numbers, ''].join('\n');
}

export interface SearchPattern {
  like: string;
  /** Text that each match contains. Its substrings (grams) lead to the contact in the search index. */
  has: string;
}

/** Returns the patterns of a search. A contact is found if its search text matches one of them. */
export function searchPatterns(q: string): SearchPattern[] {
  const text = foldText(q).trim().replace(EMAIL, '$1');
  const patterns = [contains(text)];
  const number = readPhone(q);
  if (!number) return patterns;
  for (const digits of number.digits) {
    if (digits !== text) patterns.push({ like: `%${DIGITS_MARK}%${digits}%`, has: digits });
  }
  if (number.prefix === '+') {
    // Finds contacts whose numbers were stored with a leading zero in place of the country's code.
    const [, rest] = splitCountryCode(number.digits.at(-1)!);
    if (rest !== '') patterns.push(contains(`${DIGITS_MARK}0${rest}\n`));
  }
  return patterns;
}

const contains = (text: string): SearchPattern => ({ like: `%${escapeLike(text)}%`, has: text });

/** Returns a text in the form NFC for storage, because keyboards write `ë` as one character or two. */
export function toStored<Text extends string | null | undefined>(text: Text): Text {
  return (text?.normalize('NFC') ?? text) as Text;
}

/**
 * Reports whether each pattern is long enough for the search index, because the index stores only substrings
 * (grams) of SHORTEST_GRAM or more characters.
 */
export function areIndexable(patterns: readonly SearchPattern[]): boolean {
  return patterns.every(({ has }) => [...has].length >= SHORTEST_GRAM);
}
