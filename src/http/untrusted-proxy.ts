import type { NextFunction, Request, Response } from 'express';

/** Calls `warn` once, at the first request with X-Forwarded-For: somebody stands in front, and nobody is trusted. */
export function noticeUntrustedProxy(warn: () => void) {
  let isNoticed = false;
  return ({ headers }: Request, _: Response, next: NextFunction): void => {
    if (!isNoticed && headers['x-forwarded-for'] !== undefined) {
      isNoticed = true;
      warn();
    }
    next();
  };
}
