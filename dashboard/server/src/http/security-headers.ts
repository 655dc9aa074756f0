import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';

const NONCE_BYTES = 16;

/** Returns the random nonce of a response. A page of another response can't know it. */
export function nonceOf(response: Response): string {
  const { locals } = response as { locals: { nonce?: string } };
  return (locals.nonce ??= randomBytes(NONCE_BYTES).toString('base64url'));
}

const NONE = ["'none'"];
const SELF = ["'self'"];

/**
 * Returns middleware that sets the security headers of a page. The content security policy allows resources
 * of this origin only. The only inline code that it allows are style sheets with the nonce.
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

/** Sets the header that forbids caches to store a response. Routes of built files replace it. */
export function noStore(_: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', 'no-store');
  next();
}
