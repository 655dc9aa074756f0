/** A text with LIKE's wildcards made literal. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (wildcard) => `\\${wildcard}`);
}

const PHONE = /^[\d\s()+./-]+$/;

/** The digits of a text that can be part of a phone number, or null when it can't. */
export function phoneDigits(text: string): string | null {
  const digits = text.replace(/\D/g, '');
  return PHONE.test(text) && digits !== '' ? digits : null;
}

/** Stands in a contact's search text before the phone's bare digits, and nowhere else. */
const DIGITS_MARK = '\x01';

/**
 * The LIKE patterns to find a contact by: the text anywhere in name, e-mail or phone, and, where it can be part of a
 * phone number, its digits among the phone's digits.
 */
export function searchPatterns(q: string): string[] {
  const patterns = [`%${escapeLike(q)}%`];
  const digits = phoneDigits(q);
  if (digits) patterns.push(`%${DIGITS_MARK}%${digits}%`);
  return patterns;
}

/** Three letters or digits in a row, or fewer at a word's beginning or its end, of which pg_trgm makes one. */
const TRIGRAM = /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u;

/** Whether the index of trigrams can find it: each of its patterns must have a trigram that is surely there. */
export function isIndexable(q: string): boolean {
  return TRIGRAM.test(q) && (phoneDigits(q)?.length ?? 3) >= 3;
}
