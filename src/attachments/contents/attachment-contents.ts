import { Injectable, Logger } from '@nestjs/common';
import { create as contentDisposition } from 'content-disposition';
import type { Request, Response } from 'express';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../common/app-error';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { FileKind } from '../../common/file-limits';
import { ScanState } from '../files/file.entity';
import { RENDITION_TYPES, RenditionKind } from '../renditions/rendition-kinds';
import { FileKey, FileMissing, FileRange, FileStore } from '../store/file-store';
import { readRange } from './byte-range';

/** Policy of a browser that shows a file as a page: it runs and loads nothing, and belongs to no origin. */
const POLICY = "default-src 'none'; sandbox";
/** Longest time in milliseconds of sending a file, even if the client reads slowly. */
const MAX_MS = 30 * 60_000;

/** Headers of content that the answer with an error must not have. */
const CONTENT_HEADERS = ['ETag', 'Content-Disposition', 'Content-Length', 'Content-Range', 'Accept-Ranges'];

/** Facts of an attachment whose bytes are asked for. */
export interface AttachedFile {
  tenantId: string;
  fileId: string | null;
  state: string;
  name: string | null;
  kind: FileKind;
  contentType: string | null;
  size: number | null;
  sha256: Buffer | null;
  scan: ScanState | null;
  rendition: RenditionKind | null;
}

/** Choice between the bytes of a file and the bytes of its rendition. */
export type ContentVariant = 'original' | 'rendition';

/** Sends the bytes of attachments. */
@Injectable()
export class AttachmentContents {
  private readonly logger = new Logger(AttachmentContents.name);

  constructor(
    private readonly budgets: WorkBudgets,
    private readonly store: FileStore,
  ) {}

  /**
   * Sends the bytes of an attachment, or the part that the request asks for. A browser shows pictures, audio
   * and video, and saves any other file; it runs none.
   * @param isSaved whether the browser saves pictures, audio and video too
   * @throws AppError NOT_FOUND: the bytes are not there, or there is no such rendition;
   *   RANGE_NOT_SATISFIABLE; RATE_LIMITED, UNAVAILABLE
   */
  async send(
    attachment: AttachedFile,
    request: Request,
    response: Response,
    variant: ContentVariant = 'original',
    isSaved = false,
  ): Promise<void> {
    const { tenantId, fileId, state, scan, rendition } = attachment;
    const isRendition = variant === 'rendition';
    if (state !== 'READY' || fileId === null || (isRendition && !rendition)) throw AppError.notFound('File');
    if (scan === 'INFECTED') throw AppError.because('FORBIDDEN', 'file_infected');
    const key = { tenantId, fileId, isRendition };
    await this.budgets.waitOutside('downloads', tenantId, async () => {
      const size = isRendition ? await this.store.size(key) : attachment.size;
      if (size === null) throw AppError.notFound('File');
      const etag = `"${attachment.sha256!.toString('hex')}${isRendition ? '-r' : ''}"`;
      setHeaders(response, attachment, isRendition, isSaved);
      response.setHeader('ETag', etag);
      if (request.headers['if-none-match'] === etag) return void response.status(304).end();
      const isFresh = (request.headers['if-range'] ?? etag) === etag;
      const range = isFresh ? readRange(request.headers.range, size) : null;
      if (range === 'unsatisfiable') {
        response.removeHeader('Content-Disposition');
        response.setHeader('Content-Range', `bytes */${size}`);
        throw new AppError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes.`);
      }
      if (range) {
        response.status(206);
        response.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${size}`);
      }
      response.setHeader('Content-Length', range ? range.end - range.start + 1 : size);
      if (request.method === 'HEAD') return void response.end();
      await sendStream(await this.open(key, range, response), response);
    });
  }

  /**
   * Opens a file. If that fails, removes the headers of the content, because an error is answered.
   * @throws AppError NOT_FOUND: the store has lost the bytes; UNAVAILABLE: the store does not work
   */
  private async open(key: FileKey, range: FileRange | null, response: Response): Promise<Readable> {
    try {
      return await this.store.open(key, range ?? undefined);
    } catch (error) {
      response.status(200);
      for (const name of CONTENT_HEADERS) response.removeHeader(name);
      const isMissing = error instanceof FileMissing;
      const what = isMissing
        ? 'the store has no bytes of a stored file'
        : 'the bytes of a file were not read';
      this.logger.error({ err: error as Error, ...key }, what);
      throw isMissing ? AppError.notFound('File') : AppError.busy();
    }
  }
}

function setHeaders(
  response: Response,
  { kind, contentType, name, rendition }: AttachedFile,
  isRendition: boolean,
  isSaved: boolean,
): void {
  const type = isRendition ? RENDITION_TYPES[rendition!] : contentType!;
  response.setHeader('Content-Type', type.startsWith('text/') ? `${type}; charset=utf-8` : type);
  const options = { type: kind === 'FILE' || isSaved ? 'attachment' : 'inline' } as const;
  response.setHeader('Content-Disposition', contentDisposition(name || 'file', options));
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Content-Security-Policy', POLICY);
  response.setHeader('Cache-Control', 'private, no-cache');
  response.setHeader('Accept-Ranges', 'bytes');
}

async function sendStream(content: NodeJS.ReadableStream, response: Response): Promise<void> {
  try {
    await pipeline(content, response, { signal: AbortSignal.timeout(MAX_MS) });
  } catch (error) {
    // The client has cancelled the download, or its connection broke, or an answer with a length was cut.
    if (!response.headersSent) throw error;
    response.destroy();
  }
}
