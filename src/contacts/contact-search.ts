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
