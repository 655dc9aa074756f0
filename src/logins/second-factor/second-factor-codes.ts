import { createHash, randomInt } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

const STEP_SECONDS = 30;
/**
 * Number of time steps before and after the present one whose codes are accepted too, because clocks differ.
 */
const WINDOW = 1;
const SECRET_BYTES = 20;
const SIX_DIGITS = /^\d{6}$/;
const SPACES = /\s/g;

const RECOVERY_CODES = 10;
/**
 * Number of letters of a recovery code: 16 of 31 are 79 bits, which can't be guessed even with the hashes.
 */
const RECOVERY_LETTERS = 16;
const GROUP = 4;
/** Letters and digits that can't be mistaken for others. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const SEPARATORS = /[\s-]/g;

/** Returns a secret in base32. */
export function newSecret(): string {
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** Returns the `otpauth://` address that an app takes in as a QR code. */
export function secretUri(secret: string, issuer: string, label: string): string {
  return totpOf(secret, issuer, label).toString();
}

/** Reports whether a code can be one of the app, which has six digits, rather than a recovery code. */
export function isAppCode(code: string): boolean {
  return SIX_DIGITS.test(code.replace(SPACES, ''));
}

/** Returns the number of the time step that a code belongs to; null for a wrong code. */
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

/** Hashes a recovery code, typed with or without hyphens, in small or capital letters. */
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
