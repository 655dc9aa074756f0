import type { NextFunction, Request, Response } from 'express';

/** Keeps every cache from an answer that is for one key, token or visitor. */
export const NO_STORE = 'no-store';

/** Of every answer. `Vary` is for caches that are configured to keep what `no-store` forbids. */
export const STANDARD_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': NO_STORE,
  'X-Content-Type-Options': 'nosniff',
  Vary: 'Authorization, X-Api-Key',
};

const NAMES_AND_VALUES = Object.entries(STANDARD_HEADERS);

/**
 * Sets the headers of every answer.
 * @param staticPath below it are files, which say themselves how long they may be kept
 */
export function standardHeaders(staticPath: string) {
  return (request: Request, response: Response, next: NextFunction): void => {
    for (const [name, value] of NAMES_AND_VALUES) response.setHeader(name, value);
    if (request.url.startsWith(staticPath)) response.removeHeader('Cache-Control');
    next();
  };
}
