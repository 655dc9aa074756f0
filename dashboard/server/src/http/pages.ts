import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import sirv from 'sirv';
import { nonceOf } from './security-headers';

/** Where the page's build leaves the place of the nonce. */
const NONCE = /__CSP_NONCE__/g;
const INDEX = '/index.html';
/** What is no address of a page: the server's own routes, and files. */
const NO_PAGE = /^\/(?:api|health|assets|widget-preview)(?:\/|$)/;
const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** The built page's files, but for the page itself. Those in `assets/` say by their names what is in them. */
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

/** The one page, for each of its addresses. It finds out itself what it shows. */
export function servePage(folder: string): RequestHandler {
  const file = join(folder, INDEX);
  const html = existsSync(file) ? readFileSync(file, 'utf8') : null;
  return (request: Request, response: Response, next: NextFunction): void => {
    const isPage = ['GET', 'HEAD'].includes(request.method) && !NO_PAGE.test(request.path);
    if (html === null || !isPage) return next();
    response.type('html').send(html.replaceAll(NONCE, nonceOf(response)));
  };
}
