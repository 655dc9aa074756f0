import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { sendKept } from 'conversation-messaging-service/http';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { nonceOf } from './security-headers';

/** Placeholder in the built page for the answer's nonce. */
const NONCE = /__CSP_NONCE__/g;
const INDEX = '/index.html';
/** Paths that are not pages: the server's own routes, and files. */
const NO_PAGE = /^\/(?:api|health|assets|widget-preview)(?:\/|$)/;
const YEAR_SECONDS = 365 * 24 * 60 * 60;

/**
 * Encodings in which the build has a file, the smallest first, each with the suffix that it adds to the
 * file's name.
 */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
  ['identity', ''],
] as const;

/** A file's bytes by their encodings. */
type BuiltFile = Map<string, Buffer>;

/**
 * Serves the built page's files, except the page itself, from memory. So all of them are of one build, also
 * while another build replaces them in the folder. Names in `assets/` contain a hash of the content.
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

/** Reads the files of a build, if there is one, by their paths. */
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

/** Serves the one page at each of its addresses. The page's script chooses the content by the address. */
export function servePage(folder: string): RequestHandler {
  const file = join(folder, INDEX);
  const html = existsSync(file) ? readFileSync(file, 'utf8') : null;
  return (request: Request, response: Response, next: NextFunction): void => {
    const isPage = ['GET', 'HEAD'].includes(request.method) && !NO_PAGE.test(request.path);
    if (html === null || !isPage) return next();
    response.type('html').send(html.replaceAll(NONCE, nonceOf(response)));
  };
}
