import type { NextFunction, Request, Response } from 'express';

/** Start of the paths of the widget's protocol, in any case, as Express matches it. */
const WIDGET_PATH = /^\/channels\/widget\//i;

/**
 * Lets a page read the answers of the widget's protocol, from the first error on, which may be that of its
 * body; a middleware. Pages whose origin is not allowed get no answer but refusals, which say why the chat is
 * not there.
 */
export function readableAnswers(request: Request, response: Response, next: NextFunction): void {
  if (WIDGET_PATH.test(request.path) && request.method !== 'OPTIONS') {
    const { origin } = request.headers;
    response.vary('Origin');
    if (origin !== undefined) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id');
    }
  }
  next();
}
