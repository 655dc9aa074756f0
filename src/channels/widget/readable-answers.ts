import type { NextFunction, Request, Response } from 'express';

/** Matches the start of the widget's paths. Ignores case, as Express does. */
const WIDGET_PATH = /^\/channels\/widget\//i;

/**
 * Middleware that sets the CORS headers with which a page can read the responses of the widget's routes.
 * Covers all errors, such as an invalid body. Pages whose origin is not allowed can read the refusal, which
 * says why the chat is missing.
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
