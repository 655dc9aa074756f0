import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { sendKept } from 'conversation-messaging-service/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { nonceOf } from './security-headers';

/** Placeholder in the built `index.html` for the nonce of each response. */
const NONCE = /__CSP_NONCE__/g;
const INDEX = '/index.html';
/** Paths of JSON routes, files and the widget's preview. All other paths return the page. */
const NO_PAGE = /^\/(?:api|health|assets|attachments|widget-preview)(?:\/|$)/;
const YEAR_SECONDS = 365 * 24 * 60 * 60;

/** Encodings of built files, each with the suffix of such a file's name. The smallest files come first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['identity', ''],
] as const;

type BuiltFile = Map<string, Buffer>;

/**
 * Serves all built files except `index.html` from memory, so that all are from one build even while a new
 * build replaces the folder. Files in `assets/` are cached for a year, because their names contain a hash of
 * the content.
 */
export function serveFiles(folder: string): RequestHandler {
  const files = readFiles(folder);
  return (request: Request, response: Response, next: NextFunction): void => {
    const isRead = ['GET', 'HEAD'].includes(request.method);
    const file = isRead ? files.get(request.path) : undefined;
    if (!file) return next();
    const encoding = [...file.keys()].find((one) => request.acceptsEncodings(one)) ?? 'identity';
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    const isNamedByContent = request.path.startsWith('/assets/');
    const cacheControl = isNamedByContent ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache';
    response.vary('Accept-Encoding').set('Cache-Control', cacheControl);
    sendKept(response.type(extname(request.path)), file.get(encoding)!);
  };
}

function readFiles(folder: string): Map<string, BuiltFile> {
  const names = existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: 'utf8' }) : [];
  const paths = new Set(names.map((name) => `/${name}`).filter((path) => isServed(folder, path)));
  const files = [...paths].map((path): [string, BuiltFile] => {
    const encodings = ENCODINGS.filter(([, end]) => paths.has(path + end));
    return [path, new Map(encodings.map(([name, end]) => [name, readFileSync(join(folder, path + end))]))];
  });
  return new Map(files);
}

function isServed(folder: string, path: string): boolean {
  return path !== INDEX && !path.includes('/.') && statSync(join(folder, path)).isFile();
}

/** Serves `index.html` at the address of every page. Its script chooses the content by the address. */
export function servePage(folder: string): RequestHandler {
  const file = join(folder, INDEX);
  const html = existsSync(file) ? readFileSync(file, 'utf8') : null;
  return (request: Request, response: Response, next: NextFunction): void => {
    const isPage = ['GET', 'HEAD'].includes(request.method) && !NO_PAGE.test(request.path);
    if (html === null || !isPage) return next();
    response.type('html').send(html.replaceAll(NONCE, nonceOf(response)));
  };
}
