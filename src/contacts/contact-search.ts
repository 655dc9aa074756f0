export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, (wildcard) => `\\${wildcard}`);
}

const PHONE = /^[\d\s()+./-]+$/;

/** Null when the text cannot be part of a phone number. */
export function phoneDigits(text: string): string | null {
  const digits = text.replace(/\D/g, '');
  return PHONE.test(text) && digits !== '' ? digits : null;
}

/** Marks the phone's digits in a contact's search text. */
const DIGITS_MARK = '\x01';

/**
 * The LIKE patterns of a search: the text anywhere in name, e-mail or phone and, for a part of a phone number, its
 * digits among the phone's digits.
 */
export function searchPatterns(q: string): string[] {
  const patterns = [`%${escapeLike(q)}%`];
  const digits = phoneDigits(q);
  if (digits) patterns.push(`%${DIGITS_MARK}%${digits}%`);
  return patterns;
}

/** Three letters or digits in a row, or fewer at the start or end of a word: pg_trgm pads words. */
const TRIGRAM = /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u;

/** Whether the trigram index can find it: each pattern must contain a whole trigram. */
export function isIndexable(q: string): boolean {
  return TRIGRAM.test(q) && (phoneDigits(q)?.length ?? 3) >= 3;
}
