/**
 * Number of messages in a bucket. A search reads the index bucket by bucket, the newest first. So for the
 * most frequent term it reads at most this many rows before it has a page.
 */
export const BUCKET_MESSAGES = 4_096;
/** Number of the low bits of a key, which are the term's hash. The high bits name workspace and bucket. */
export const TERM_BITS = 32;
/** Mask of the 31 bits of a key above TERM_BITS. Keys are signed, and the highest bit stays zero. */
export const BUCKET_MASK = 0x7fffffff;

const OFFSET_BASIS = 0x811c9dc5;
const PRIME = 0x01000193;

/** Returns the bucket of a message by its number. Messages from before the index have negative numbers. */
export function bucketOf(number: number): number {
  return Math.floor(number / BUCKET_MESSAGES);
}

/** Returns a 32-bit hash of a term. Two terms may have the same hash. */
export function hashTerm(term: string): number {
  let hash = OFFSET_BASIS;
  for (let n = 0; n < term.length; n++) hash = Math.imul(hash ^ term.charCodeAt(n), PRIME);
  // In FNV-1a the last characters change few bits, so these steps of MurmurHash3 spread their effect.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Returns the number that names bucket 0 of a workspace in the keys of the search index. */
export function keyBase(tenantId: string): number {
  return hashTerm(tenantId) & BUCKET_MASK;
}

/**
 * Returns the keys of terms in the index, joined by commas. The keys of one bucket are next to each other in
 * the index, so that new messages change few pages. Two workspaces may have equal keys, so queries must
 * compare the workspace too.
 */
export function makeKeys(tenantId: string, bucket: number, terms: Iterable<string>): string {
  const high = BigInt((keyBase(tenantId) + bucket) & BUCKET_MASK) << BigInt(TERM_BITS);
  const keys = new Set<bigint>();
  for (const term of terms) keys.add(high | BigInt(hashTerm(term)));
  return [...keys].join();
}
