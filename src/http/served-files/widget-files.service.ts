import { join } from 'node:path';
import { Injectable, Logger, OnModuleInit } from '@nestjs/common';
import type { Request, Response } from 'express';
import { AppError } from '../../common/app-error';
import { BUILD_FOLDER } from '../../common/build-folder';
import { NO_STORE } from '../connections/standard-headers';
import { WidgetFiles } from './widget-files';

const FOLDER = join(BUILD_FOLDER, 'widget');

/** `Cache-Control` of the loader. Its URL never changes, and pages must soon load a new build. */
const SHORT = 'public, max-age=300, stale-while-revalidate=86400';
/** `Cache-Control` of a chunk, whose name contains a hash of its content. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Headers that allow pages of every origin to load a file, whatever their cross-origin policy. */
const HEADERS = {
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
};

/** Sends the files of the widget's build, which it reads when the process starts. */
@Injectable()
export class WidgetFilesService implements OnModuleInit {
  private readonly logger = new Logger(WidgetFilesService.name);
  private files: WidgetFiles;

  async onModuleInit(): Promise<void> {
    this.files = await WidgetFiles.read(FOLDER);
    if (!this.files.loader)
      this.logger.warn(`the widget is not built: ${FOLDER} has no files, so /widget/ answers 404`);
  }

  /** @throws AppError NOT_FOUND: the widget is not built */
  async sendLoader(request: Request, response: Response): Promise<void> {
    if (!this.files.loader) throw AppError.notFound('File');
    await this.files.loader.send(request, response, { ...HEADERS, 'Cache-Control': SHORT });
  }

  /** @throws AppError NOT_FOUND: the build has no such chunk */
  async sendChunk(fileName: string, request: Request, response: Response): Promise<void> {
    const found = this.files.findChunk(fileName);
    if (!found) throw AppError.notFound('File');
    const cacheControl = found.isExact ? FOREVER : NO_STORE;
    await found.file.send(request, response, { ...HEADERS, 'Cache-Control': cacheControl });
  }
}
