import { AppError } from '../../common/app-error';
import { countCharacters, isStorableText } from '../../common/validators';

const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 200;

/**
 * Most common passwords of the permitted length, in lower case. `REPEATED` matches those that repeat a few
 * characters.
 */
const COMMON = new Set([
  '012345678910',
  '0123456789ab',
  '0987654321qwerty',
  '1234567890ab',
  '1234567890abc',
  '1234567890qwerty',
  '1234qwerasdf',
  '1q2w3e4r5t6y',
  '1q2w3e4r5t6y7u8i',
  '1qaz2wsx3edc',
  '1qaz2wsx3edc4rfv',
  'abcd1234efgh',
  'administrator',
  'administrator1',
  'adminadmin123',
  'changeme1234',
  'changemenow1',
  'correct horse battery staple',
  'correcthorsebatterystaple',
  'hallohallo123',
  'iloveyou1234',
  'iloveyouforever',
  'ichliebedich',
  'letmein12345',
  'letmeinletmein',
  'passwort1234',
  'passwort12345',
  'password1234',
  'password12345',
  'password123456',
  'passw0rd1234',
  'p@ssw0rd1234',
  'p@ssword1234',
  'qwertyuiop12',
  'qwertyuiop123',
  'qwertyuiop1234',
  'qwertyuiopasdf',
  'qwertyuiopasdfgh',
  'qwertz123456',
  'qwertzuiop12',
  'qwertzuiop123',
  'qwerty123456',
  'qwerty1234567',
  'secretsecret',
  'supersecret1',
  'superman1234',
  'test12345678',
  'trustno1trustno1',
  'welcome12345',
  'welcome123456',
  'willkommen12',
  'willkommen123',
  'willkommen1234',
  'zaq12wsxcde3',
  'zxcvbnm12345',
]);
/** Matches `aaaaaaaaaaaa`, `abcabcabcabc`, `passwordpassword`. */
const REPEATED = /^(.{1,8})\1+$/su;
const DIGITS_IN_ROW = '01234567890123456789012345678901234567890';
const DIGITS_BACKWARDS = [...DIGITS_IN_ROW].reverse().join('');

/** Returns the same form of a password for each way in which a keyboard may compose its characters. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Refuses a password that is too short, or that attackers guess first.
 * @throws AppError INVALID_BODY about `field`
 */
export function requireGoodPassword(password: string, email: string, field: string): void {
  const length = countCharacters(password);
  if (!isStorableText(password) || length < MIN_CHARACTERS || length > MAX_CHARACTERS)
    throw AppError.invalidBody(field, 'password_length', { min: MIN_CHARACTERS, max: MAX_CHARACTERS });
  const plain = normalizePassword(password).toLowerCase();
  if (plain === email.toLowerCase()) throw AppError.invalidBody(field, 'password_is_email');
  if (isCommon(plain)) throw AppError.invalidBody(field, 'password_common');
}

function isCommon(plain: string): boolean {
  return (
    COMMON.has(plain) ||
    REPEATED.test(plain) ||
    DIGITS_IN_ROW.includes(plain) ||
    DIGITS_BACKWARDS.includes(plain)
  );
}
