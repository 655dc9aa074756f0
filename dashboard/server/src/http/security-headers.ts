import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import helmet from 'helmet';
import type { DashboardConfig } from '../config/dashboard-config';

const NONCE_BYTES = 16;

/** Returns the random nonce of a response, with which its page marks the page's own inline style sheets. */
export function nonceOf(response: Response): string {
  const { locals } = response as { locals: { nonce?: string } };
  return (locals.nonce ??= randomBytes(NONCE_BYTES).toString('base64url'));
}

const NONE = ["'none'"];
const SELF = ["'self'"];

/**
 * Returns middleware that sets a response's security headers. Its page may use only this origin's resources,
 * images in `data:` URLs, inline style sheets with the response's nonce, and the attachments' origin for
 * pictures, audio and video. Where browsers use https, they are told to use nothing else for a year.
 */
export function securityHeaders({
  isSecure,
  attachmentsOrigin,
}: Pick<DashboardConfig, 'isSecure' | 'attachmentsOrigin'>) {
  const files = attachmentsOrigin === null ? SELF : [...SELF, attachmentsOrigin];
  const nonce = (_: IncomingMessage, response: ServerResponse) => `'nonce-${nonceOf(response as Response)}'`;
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: NONE,
        scriptSrc: SELF,
        styleSrc: [...SELF, nonce],
        connectSrc: SELF,
        imgSrc: [...files, 'data:'],
        mediaSrc: files,
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

/** Sets the header that forbids caches to store a response. The routes of built files set another value. */
export function noStore(_: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', 'no-store');
  next();
}
