import { createHash, randomInt } from 'node:crypto';

const COUNT = 10;
/** 79 bits: nobody guesses one, not even with the hashes. */
const LENGTH = 16;
const GROUP = 4;
/** Without letters that are read as others. */
const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789';
const SEPARATORS = /[\s-]/g;

/** Ten codes such as `k3vq-9zdm-pa4t-xw7h`. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: COUNT }, newRecoveryCode);
}

/** However it is typed: with or without hyphens, in capitals. */
export function hashRecoveryCode(code: string): Buffer {
  return createHash('sha256').update(code.replace(SEPARATORS, '').toLowerCase()).digest();
}

function newRecoveryCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return letters.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-');
}
