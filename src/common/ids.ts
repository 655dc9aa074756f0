import { randomFillSync } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
export const LOWEST_ID = '00000000-0000-0000-0000-000000000000';
export const HIGHEST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

const RANDOM_BYTES = 16;
/**
 * Number of highest bits that are zero in the random number with which the sequence starts in each
 * millisecond, so that the sequence cannot reach its end within the millisecond.
 */
const SEQUENCE_HEADROOM_BITS = 2;
const TIMESTAMP_SHIFT = 80n;
/** Position of the upper 12 of a UUIDv7's 74 random bits. RAND_B_MASK selects the lower 62 bits. */
const RAND_A_SHIFT = 64n;
const RAND_B_MASK = (1n << 62n) - 1n;
const VERSION_7 = 7n << 76n;
const VARIANT = 2n << 62n;

/** Random bytes for many ids, read by one system call: a call for each id would take five times as long. */
const randomness = Buffer.allocUnsafe(256 * RANDOM_BYTES);
let drawn = randomness.length;
/** Time of the latest id (ms since 1970), and its sequence number within that millisecond. */
const latest = { msecs: 0, seq: 0 };

/** Returns a new UUIDv7. Within this process, each id sorts above all earlier ids. */
export function newId(): string {
  const random = nextRandom();
  const now = Date.now();
  if (now > latest.msecs) {
    latest.msecs = now;
    latest.seq = random.readUInt32BE(0) >>> SEQUENCE_HEADROOM_BITS;
  } else {
    latest.seq++;
  }
  return uuidv7({ random, ...latest });
}

/**
 * Returns a new id that sorts above `last`, even if this machine's clock is behind. If each caller holds the
 * lock on a conversation's row, the ids of the conversation's rows are in the order of their commits.
 */
export function newIdAfter(last: string | null): string {
  const id = newId();
  return last === null || id > last ? id : successor(last);
}

/** Returns the lowest UUIDv7 of a time stamp, as a bound for the ids of older or newer rows. */
export function idFloor(moment: Date): string {
  return format((BigInt(moment.getTime()) << TIMESTAMP_SHIFT) | VERSION_7 | VARIANT);
}

/** Returns the time stamp in an id's first 48 bits: in a UUIDv7 its time of creation, to the millisecond. */
export function idTime(id: string): Date {
  return new Date(parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/** Reports whether a value is an id in the form in which this service writes it: in lower case. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** Returns the next UUIDv7 in sort order: the random bits plus one, with carry into the time stamp. */
export function successor(id: string): string {
  const bits = BigInt(`0x${id.replaceAll('-', '')}`);
  const timestamp = bits >> TIMESTAMP_SHIFT;
  const randA = (bits >> RAND_A_SHIFT) & 0xfffn;
  const counter = ((timestamp << 74n) | (randA << 62n) | (bits & RAND_B_MASK)) + 1n;
  return format(
    ((counter >> 74n) << TIMESTAMP_SHIFT) |
      VERSION_7 |
      (((counter >> 62n) & 0xfffn) << RAND_A_SHIFT) |
      VARIANT |
      (counter & RAND_B_MASK),
  );
}

function nextRandom(): Buffer {
  if (drawn === randomness.length) {
    randomFillSync(randomness);
    drawn = 0;
  }
  return randomness.subarray(drawn, (drawn += RANDOM_BYTES));
}

function format(bits: bigint): string {
  const hex = bits.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
