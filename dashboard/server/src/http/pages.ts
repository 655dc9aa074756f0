import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import sirv from 'sirv';
import { nonceOf } from './security-headers';

/** Placeholder in the built page for the answer's nonce. */
const NONCE = /__CSP_NONCE__/g;
const INDEX = '/index.html';
/** Paths that are not pages: the server's own routes, and files. */
const NO_PAGE = /^\/(?:api|health|assets|widget-preview)(?:\/|$)/;
const YEAR_SECONDS = 365 * 24 * 60 * 60;

/**
 * Serves the built page's files, except the page itself. Names in `assets/` contain a hash of the content.
 */
export function serveFiles(folder: string): RequestHandler {
  const serve = sirv(folder, { extensions: [], gzip: true, brotli: true, setHeaders });
  return (request: Request, response: Response, next: NextFunction): void => {
    if (request.path === INDEX) return next();
    serve(request, response, next);
  };
}

function setHeaders(response: ServerResponse, path: string): void {
  const isNamedByContent = path.startsWith('/assets/');
  const value = isNamedByContent ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
  response.setHeader('Cache-Control', value);
}

/** Serves the one page at each of its addresses. The page itself decides what it shows. */
export function servePage(folder: string): RequestHandler {
  const file = join(folder, INDEX);
  const html = existsSync(file) ? readFileSync(file, 'utf8') : null;
  return (request: Request, response: Response, next: NextFunction): void => {
    const isPage = ['GET', 'HEAD'].includes(request.method) && !NO_PAGE.test(request.path);
    if (html === null || !isPage) return next();
    response.type('html').send(html.replaceAll(NONCE, nonceOf(response)));
  };
}
