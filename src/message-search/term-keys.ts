/**
 * Number of messages that share a bucket. A search reads the index by buckets, the newest first. So it reads
 * at most this many rows for the most frequent term before it has a page.
 */
export const BUCKET_MESSAGES = 4_096;
/** Bits of a key that name the term; those above them name the workspace and its bucket. */
export const TERM_BITS = 32;
/** Mask of the bits of a key that name the bucket. Keys are signed: the highest bit stays zero. */
export const BUCKET_MASK = 0x7fffffff;

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** Returns the bucket of a message by its number in the workspace. Older messages have negative numbers. */
export function bucketOf(number: number): number {
  return Math.floor(number / BUCKET_MESSAGES);
}

/** Returns the number that stands for a term: 32 bits, which another term may share. */
export function hashTerm(term: string): number {
  let hash = OFFSET_BASIS;
  for (let n = 0; n < term.length; n++) hash = Math.imul(hash ^ term.charCodeAt(n), PRIME);
  // The bits of FNV-1a depend on few of the last characters, until they are mixed.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the number from which the buckets of a workspace are counted in the keys. */
export function keyBase(tenantId: string): number {
  return hashTerm(tenantId) & BUCKET_MASK;
}

/**
 * Returns the keys of terms in the index, with commas between them. The keys of a bucket lie beside each
 * other, so that new messages change few pages. Two workspaces may share a key: a reader compares the
 * workspace too.
 */
export function makeKeys(tenantId: string, bucket: number, terms: Iterable<string>): string {
  const high = BigInt((keyBase(tenantId) + bucket) & BUCKET_MASK) << BigInt(TERM_BITS);
  const keys = new Set<bigint>();
  for (const term of terms) keys.add(high | BigInt(hashTerm(term)));
  return [...keys].join();
}
