/** State of one path's rate limit in the latest response. All API keys of the workspace share the limit. */
export interface RateLimit {
  /** Requests that the service accepts on this path in a minute. */
  limit: number;
  /** Number of further requests that the service accepts until `resetsAt`, as the response said. */
  remaining: number;
  /** Time at which the service begins to count the requests of the next minute, from zero. */
  resetsAt: Date;
}

/** Reads a rate limit's state from response headers; returns null if a header is missing or malformed. */
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
