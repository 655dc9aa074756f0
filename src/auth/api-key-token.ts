import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { BASE62, randomBase62 } from '../common/base62';

const PREFIX = 'plk_';
const RANDOM_LENGTH = 34;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

/** Returns `plk_`, 34 random base62 characters (202 bits), and the CRC-32 of both in 6 base62 digits. */
export function generateApiKey(): string {
  const random = randomBase62(RANDOM_LENGTH);
  return PREFIX + random + checksum(PREFIX + random);
}

/** Reports whether a text has the form and the checksum of a key, so that a mistyped key costs no query. */
export function isWellFormedApiKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** Hashes a key for storage. A fast hash is enough, because a key has 202 random bits. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62[rest % BASE62.length] + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
