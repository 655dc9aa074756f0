import type { NextFunction, Request, Response } from 'express';

/** Makes a middleware that calls `warn` at the first X-Forwarded-For only. Use it if no proxy is trusted. */
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
