import type { NextFunction, Request, Response } from 'express';

/** `Cache-Control` of an answer that is for one key, token or visitor: no cache may store it. */
export const NO_STORE = 'no-store';

/** Headers of every answer. `Vary` is for caches that are configured to store answers despite `no-store`. */
export const STANDARD_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': NO_STORE,
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Authorization, X-Api-Key',
};

const NAMES_AND_VALUES = Object.entries(STANDARD_HEADERS);

/** Sets the headers of every answer. A route whose answers may be cached sets its own `Cache-Control`. */
export function standardHeaders(_: Request, response: Response, next: NextFunction): void {
  for (const [name, value] of NAMES_AND_VALUES) response.setHeader(name, value);
  next();
}
