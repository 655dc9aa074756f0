import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

const NONCE_BYTES = 16;

/** Returns the nonce of an answer. Only the page of this answer can name it. */
export function nonceOf(response: Response): string {
  const { locals } = response as { locals: { nonce?: string } };
  return (locals.nonce ??= randomBytes(NONCE_BYTES).toString('base64url'));
}

const NONE = ["'none'"];
const SELF = ["'self'"];

/**
 * Makes the middleware for the headers that restrict a page: everything comes from this origin, and nothing
 * is inline except style sheets with the answer's nonce.
 */
export function securityHeaders(isSecure: boolean) {
  const nonce = (_: IncomingMessage, response: ServerResponse) => `'nonce-${nonceOf(response as Response)}'`;
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: NONE,
        scriptSrc: SELF,
        styleSrc: [...SELF, nonce],
        connectSrc: SELF,
        imgSrc: [...SELF, 'data:'],
        fontSrc: SELF,
        formAction: SELF,
        frameAncestors: NONE,
        baseUri: NONE,
      },
    },
    strictTransportSecurity: isSecure && { maxAge: 365 * 24 * 60 * 60 },
    xFrameOptions: { action: 'deny' },
  });
}

/** Forbids caches to keep an answer, which is for one person. Files set their own cache headers. */
export function noStore(_: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', 'no-store');
  next();
}
