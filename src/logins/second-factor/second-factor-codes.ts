import { createHash, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const STEP_SECONDS = 30;
/** Codes of this many 30-second steps before and after the present one count too, because clocks differ. */
const WINDOW = 1;
const SECRET_BYTES = 20;
const SIX_DIGITS = /^\d{6}$/;
const SPACES = /\s/g;

const RECOVERY_CODES = 10;
/** Letters in a recovery code. They have 79 random bits, too many to find a code even from its hash. */
const RECOVERY_LETTERS = 16;
const GROUP = 4;
/** Alphabet of recovery codes, without i, l, o, 0 and 1, which look alike. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const SEPARATORS = /[\s-]/g;

export function newSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the `otpauth://` URI of a TOTP secret, for display as a QR code. */
export function secretUri(secret: string, issuer: string, label: string): string {
  return totpOf(secret, issuer, label).toString();
}

/** Reports whether a code has six digits, like the app's codes. All other codes are recovery codes. */
export function isAppCode(code: string): boolean {
  return SIX_DIGITS.test(code.replace(SPACES, ''));
}

/** Returns the number of the 30-second step, since 1970, of a code of the app; null for a wrong code. */
export function findTimeStep(secret: string, code: string): number | null {
  const now = Date.now();
  const token = code.replace(SPACES, '');
  const delta = totpOf(secret).validate({ token, timestamp: now, window: WINDOW });
  return delta === null ? null : Math.floor(now / 1000 / STEP_SECONDS) + delta;
}

/** Returns ten codes such as `k3vq-9zdm-pa4t-xw7h`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
}

/** Hashes a recovery code. Hyphens, spaces and capital letters make no difference. */
export function hashRecoveryCode(code: string): Buffer {
  return createHash('sha256').update(code.replace(SEPARATORS, '').toLowerCase()).digest();
}

function totpOf(secret: string, issuer?: string, label?: string): TOTP {
  return new TOTP({ issuer, label, algorithm: 'SHA1', digits: 6, period: STEP_SECONDS, secret });
}

function newRecoveryCode(): string {
  const letters = Array.from({ length: RECOVERY_LETTERS }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return letters.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}
