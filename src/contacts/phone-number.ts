import { foldText } from '../common/folded-text';

/** Copied link with a number, perhaps with parameters after it. */
const LINK = /^(?:(?:tel|callto|sms|smsto|whatsapp):(?:\/\/)?|https?:\/\/wa\.me\/)([^;?]*).*$/s;
/** Number with an extension, such as `ext. 12`, `x12` or `#12`. */
const EXTENSION = /^([\d\s()+./-]{7,}?)\s?[,;]?\s?(?:#|x|ext(?:ension|n)?\.?)[\s:=]?\d{1,6}$/;
const PHONE = /^[\s()./-]*\+?[\d\s()./-]+$/;
/** Zero that is dialled only within a country, as in `+44 (0)20`. */
const TRUNK_IN_BRACKETS = /\(\s*0\s*\)/g;
/** Country code at the start of digits: one or two digits if these are a code, else three (ITU-T E.164). */
const COUNTRY_CODE = /^(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;
/** Country codes after which a zero belongs to the number, such as Italy's 39. */
const ZERO_BELONGS = /^(?:39|378|225|229|242)0/;
/** Digits of a whole number, from the country's code on (ITU-T E.164). */
const WHOLE = /^[1-9]\d{6,14}$/;

export interface PhoneNumber {
  /** `+` for a number with its country's code, `0` for one with a zero in place of the code, else empty. */
  prefix: '+' | '0' | '';
  /**
   * Digits after `+`, `00` or the leading zero. If a zero follows the country's code, as in `+44 020`, a
   * second form leaves out that zero.
   */
  digits: string[];
}

/**
 * Reads a phone number in any usual spelling, without its extension. Returns null if the text cannot be a
 * number or a part of one.
 */
export function readPhone(text: string): PhoneNumber | null {
  return readNumber(foldText(text).trim().replace(EXTENSION, '$1'));
}

function readNumber(folded: string): PhoneNumber | null {
  const number = folded.replace(LINK, '$1').replace(TRUNK_IN_BRACKETS, '');
  const all = number.replace(/\D/g, '');
  if (!PHONE.test(number) || all === '') return null;
  const exit = /^\D*\+/.test(number) ? 0 : all.startsWith('00') ? 2 : null;
  if (exit === null && /^0./.test(all)) return { prefix: '0', digits: [all.slice(1)] };
  const digits = all.slice(exit ?? 0);
  if (exit === null || digits === '') return { prefix: '', digits: [all] };
  return { prefix: '+', digits: formsOf(digits) };
}

/**
 * Returns the digits of a whole number from the country's code on, as providers write it. A number without a
 * prefix must begin with that code. Returns null for any other text, and for a number with an extension.
 */
export function readWholeNumber(text: string): string | null {
  const number = readNumber(foldText(text).trim());
  if (!number || number.prefix === '0') return null;
  const [written, dialled = written] = formsOf(number.digits[0]!);
  const digits = ZERO_BELONGS.test(written) ? written : dialled;
  return WHOLE.test(digits) ? digits : null;
}

export function splitCountryCode(digits: string): [code: string, rest: string] {
  const code = COUNTRY_CODE.exec(digits)?.[0] ?? digits;
  return [code, digits.slice(code.length)];
}

/** Returns the digits after `+`; if a zero follows the country's code, also the digits without that zero. */
function formsOf(digits: string): [written: string] | [written: string, dialled: string] {
  const [code, rest] = splitCountryCode(digits);
  return rest.startsWith('0') ? [digits, code + rest.slice(1)] : [digits];
}
