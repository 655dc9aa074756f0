import type { NextFunction, Request, Response } from 'express';

/** Matches the start of the widget's paths. Ignores case, as Express does. */
const WIDGET_PATH = /^\/channels\/widget\//i;

/**
 * Middleware that lets pages read the widget's responses, including all errors. A page whose origin is not
 * allowed can read only refusals, which say why the chat is missing.
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
