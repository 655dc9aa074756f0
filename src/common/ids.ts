import { v7 as uuidv7 } from 'uuid';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const TIMESTAMP_SHIFT = 80n;
/** The 74 random bits of a UUIDv7: everything but its timestamp, version and variant. */
const RAND_A_SHIFT = 64n;
const RAND_B_MASK = (1n << 62n) - 1n;
const VERSION_7 = 7n << 76n;
const VARIANT = 2n << 62n;

/** A new identifier: UUIDv7, so that ids sort by the time they were made; increasing within this process. */
export function newId(): string {
  return uuidv7();
}

/**
 * A new identifier that sorts above `last`, whatever this machine's clock says. Rows of one conversation are
 * made under its lock with this, so that their ids follow the order of their commits.
 */
export function newIdAfter(last: string | null): string {
  const id = newId();
  return last === null || id > last ? id : successor(last);
}

/** The lowest identifier that could have been made at `moment`: a bound for "older than" over ids. */
export function idFloor(moment: Date): string {
  return format((BigInt(moment.getTime()) << TIMESTAMP_SHIFT) | VERSION_7 | VARIANT);
}

/** Ids are opaque, so another spelling of one (in capitals) is another text, and nobody's id. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** The next UUIDv7 in sort order: its random bits counted up by one, carrying into the timestamp. */
function successor(id: string): string {
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

function format(bits: bigint): string {
  const hex = bits.toString(16).padStart(32, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
