import { readFile } from 'node:fs/promises';
import { AppError } from '../../common/app-error';
import { countCharacters, isStorableText } from '../../common/validators';

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 200;

/** Matches a text of up to 8 characters that is repeated, such as `abcabcabcabc`. */
const REPEATED = /^(.{1,8})\1+$/su;
const DIGITS_IN_ROW = '01234567890123456789012345678901234567890';
const DIGITS_BACKWARDS = [...DIGITS_IN_ROW].reverse().join('');
/** Matches the digits and signs that people put after a word. */
const TAIL = /[^\p{L}]+$/u;

/** Common passwords that the package `popular-passwords` lacks, such as shorter and German ones. */
const MORE_COMMON = [
  'correct horse battery staple',
  'correcthorsebatterystaple',
  'hallo',
  'ichliebedich',
  'letmein',
  'welcome',
  'willkommen',
];

let popular: Promise<Set<string>> | undefined;

/** Returns a password in Unicode form NFKC, so that it does not matter how a keyboard composes characters. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Refuses a password that has a wrong length, equals the e-mail address, or is common.
 * @throws AppError INVALID_BODY about `field`
 */
export async function requireGoodPassword(password: string, email: string, field: string): Promise<void> {
  const length = countCharacters(password);
  if (!isStorableText(password) || length < MIN_CHARACTERS || length > MAX_CHARACTERS)
    throw AppError.invalidBody(field, 'password_length', { min: MIN_CHARACTERS, max: MAX_CHARACTERS });
  const plain = normalizePassword(password).toLowerCase();
  if (plain === email.toLowerCase()) throw AppError.invalidBody(field, 'password_is_email');
  if (await isCommon(plain)) throw AppError.invalidBody(field, 'password_common');
}

async function isCommon(plain: string): Promise<boolean> {
  if (REPEATED.test(plain) || DIGITS_IN_ROW.includes(plain) || DIGITS_BACKWARDS.includes(plain)) return true;
  popular ??= load().catch((error: unknown) => {
    popular = undefined;
    throw error;
  });
  const known = await popular;
  return known.has(plain) || known.has(plain.replace(TAIL, ''));
}

/** Loads the 41,622 passwords of the package, of which 3,973 have a permitted length. */
async function load(): Promise<Set<string>> {
  const json = await readFile(require.resolve('popular-passwords'), 'utf8');
  return new Set([...(JSON.parse(json) as string[]), ...MORE_COMMON]);
}
