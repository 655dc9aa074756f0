import { foldText } from '../common/folded-text';

export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (wildcard) => `\\${wildcard}`);
}

/** Mark of each line with digits of the phone in a contact's search text. */
const DIGITS_MARK = '\x01';

/** Length of the shortest grams in the index. */
const SHORTEST_GRAM = 3;

/** Copied link with a number, which parameters may follow. */
const LINK = /^(?:tel|callto|sms):(?:\/\/)?([^;]*).*$/s;
const PHONE = /^[\d\s()+./-]+$/;
/** Zero that is dialled within a country alone, as in `+44 (0)20`. */
const TRUNK_IN_BRACKETS = /\(\s*0\s*\)/g;
/** Codes of countries of one and two digits (ITU-T E.164); the others have three. */
const COUNTRY_CODE = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** Number of a phone, as its digits tell it. */
export interface PhoneNumber {
  /** `+` of a number with its country's code, `0` of one with the zero in place of that code, or neither. */
  prefix: '+' | '0' | '';
  /**
   * Digits behind `+`, `00` or the zero that is dialled within a country. They have a second form when that
   * zero may stand behind the country's code, as in `+44 020`.
   */
  digits: string[];
}

/** Reads a phone number in any usual spelling; null when the text cannot be part of one. */
export function readPhone(text: string): PhoneNumber | null {
  const number = foldText(text).trim().replace(LINK, '$1').replace(TRUNK_IN_BRACKETS, '');
  const all = number.replace(/\D/g, '');
  if (!PHONE.test(number) || all === '') return null;
  const exit = /^\D*\+/.test(number) ? 0 : all.startsWith('00') ? 2 : null;
  if (exit === null && /^0./.test(all)) return { prefix: '0', digits: [all.slice(1)] };
  const digits = all.slice(exit ?? 0);
  if (exit === null || digits === '') return { prefix: '', digits: [all] };
  const [code, rest] = splitCountryCode(digits);
  return { prefix: '+', digits: rest.startsWith('0') ? [digits, code + rest.slice(1)] : [digits] };
}

function splitCountryCode(digits: string): [code: string, rest: string] {
  const code = COUNTRY_CODE.exec(digits)?.[0] ?? digits;
  return [code, digits.slice(code.length)];
}

/**
 * Returns the text by which a contact is found: a line for each searched value, and one for each form of the
 * phone's digits.
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

/** Pattern of a search; a contact is found when its search text matches one of them. */
export interface SearchPattern {
  like: string;
  /** Text that each match has, by whose grams the index finds it. */
  has: string;
}

/** Returns the patterns of what a person searches for, of which one must match. */
export function searchPatterns(q: string): SearchPattern[] {
  const text = foldText(q).trim();
  const patterns = [contains(text)];
  const number = readPhone(q);
  if (!number) return patterns;
  for (const digits of number.digits) {
    if (digits !== text) patterns.push({ like: `%${DIGITS_MARK}%${digits}%`, has: digits });
  }
  if (number.prefix === '+') {
    // Contacts whose numbers were written with the zero in place of the country's code.
    const [, rest] = splitCountryCode(number.digits.at(-1)!);
    if (rest !== '') patterns.push(contains(`${DIGITS_MARK}0${rest}\n`));
  }
  return patterns;
}

const contains = (text: string): SearchPattern => ({ like: `%${escapeLike(text)}%`, has: text });

/**
 * Returns a text in the form in which it is stored (NFC), because a keyboard may write `ë` as one character
 * or as two.
 */
export function toStored<Text extends string | null | undefined>(text: Text): Text {
  return (text?.normalize('NFC') ?? text) as Text;
}

/**
 * Reports whether the search index can find each pattern. The index holds substrings (grams) of at least
 * SHORTEST_GRAM characters, so a shorter text has none.
 */
export function areIndexable(patterns: readonly SearchPattern[]): boolean {
  return patterns.every(({ has }) => [...has].length >= SHORTEST_GRAM);
}
