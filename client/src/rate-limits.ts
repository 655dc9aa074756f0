/**
 * State of the rate limit of one path, for all keys of the workspace together, as the last answer told it.
 */
export interface RateLimit {
  /** Number of requests a minute that the path takes. */
  limit: number;
  /** Number of them that were left. */
  remaining: number;
  /** Time at which the count begins anew. */
  resetsAt: Date;
}

/** Reads the state of a rate limit from an answer's headers; null if the answer has none. */
export function readRateLimit(headers: Headers): RateLimit | null {
  const limit = readNumber(headers, 'x-ratelimit-limit');
  const remaining = readNumber(headers, 'x-ratelimit-remaining');
  const resetSeconds = readNumber(headers, 'x-ratelimit-reset');
  if (limit === null || remaining === null || resetSeconds === null) return null;
  return { limit, remaining, resetsAt: new Date(Date.now() + resetSeconds * 1_000) };
}

function readNumber(headers: Headers, name: string): number | null {
  const text = headers.get(name);
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}
