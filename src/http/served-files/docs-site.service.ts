import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { BUILD_FOLDER } from '../../common/build-folder';
import { type DocsFile, readDocsFiles } from './docs-files';

const FOLDER = join(BUILD_FOLDER, 'docs');

const PAGE_OF_UNKNOWN_PATHS = '404.html';

/** `Cache-Control` of a page: a browser checks with the server before it uses its copy. */
const ASK = 'public, no-cache';
/** `Cache-Control` of a file whose name contains a hash of its content. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Headers of every file. Pages may use only scripts, styles, images and requests of this server. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  'Referrer-Policy': 'same-origin',
  Vary: 'Accept, Accept-Encoding',
};

/** Sends the files of the built documentation. The first request reads them all into memory. */
@Injectable()
export class DocsSiteService {
  private files: ReturnType<typeof readDocsFiles> | undefined;

  /**
   * Sends the file of a path below `/docs/`, or the 404 page.
   * @throws AppError NOT_FOUND: there is no such file, and the client accepts no HTML
   */
  async send(path: string, request: Request, response: Response): Promise<void> {
    const files = await (this.files ??= this.read());
    // A page has no extension in its path, and the first page has the path ''.
    const found = files.get(path) ?? files.get(`${path || 'index'}.html`);
    if (found) return send(found, request, response);
    const page = files.get(PAGE_OF_UNKNOWN_PATHS);
    if (!page || request.accepts(['json', 'html']) !== 'html') throw AppError.notFound('File');
    response.status(404);
    await send(page, request, response);
  }

  private read(): ReturnType<typeof readDocsFiles> {
    return readDocsFiles(FOLDER).catch((error: unknown) => {
      this.files = undefined;
      throw error;
    });
  }
}

function send(
  { file, contentType, isNamedByContent }: DocsFile,
  request: Request,
  response: Response,
): Promise<void> {
  const cacheControl = isNamedByContent ? FOREVER : ASK;
  return file.send(request, response, {
    ...HEADERS,
    'Cache-Control': cacheControl,
    'Content-Type': contentType,
  });
}
