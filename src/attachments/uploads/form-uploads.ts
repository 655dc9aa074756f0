import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { Actor, actorIdOf } from '../../access/principal';
import { AppError } from '../../common/app-error';
import { MEBIBYTE } from '../../common/file-limits';
import { Connections } from '../../http/connections/connections';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { CreateUpload, UploadResponse } from './upload.dto';
import { FormFile, readFormFile } from './form-file';
import { UploadContents } from './upload-contents';
import { UploadsService } from './uploads.service';
import { watchProgress } from './watched-progress';

/** Largest file of a form. A larger one goes in two steps, of which the second can be repeated. */
export const MAX_FORM_FILE_BYTES = 10 * MEBIBYTE;
/** Bytes of a form that are not the file's. */
const MAX_OTHER_BYTES = 16 * 1024;

/** Receives uploads in one step, as forms with a file. */
@Injectable()
export class FormUploads {
  constructor(
    private readonly budgets: WorkBudgets,
    private readonly connections: Connections,
    private readonly uploads: UploadsService,
    private readonly contents: UploadContents,
  ) {}

  /**
   * Makes an upload of the form that a request sends.
   * @throws AppError INVALID_BODY, NOT_FOUND, PAYLOAD_TOO_LARGE, REQUEST_TIMEOUT, RATE_LIMITED, UNAVAILABLE
   */
  async receive(tenantId: string, request: Request, actor: Actor): Promise<UploadResponse> {
    const formBytes = requireFormSize(request);
    return this.budgets.waitOutside('uploads', tenantId, async () => {
      this.connections.letTakeTime(request);
      const progress = watchProgress(request);
      try {
        const file = await readFormFile(request, progress.signal);
        return await this.store(tenantId, file, formBytes, actor, progress.signal);
      } finally {
        progress.stop();
      }
    });
  }

  /** Reserves space for the whole form, and gives back the space that the file does not take. */
  private async store(
    tenantId: string,
    { fields, name, contentType, content }: FormFile,
    formBytes: number,
    actor: Actor,
    signal: AbortSignal,
  ): Promise<UploadResponse> {
    const size = Math.min(formBytes, MAX_FORM_FILE_BYTES);
    const { id } = await this.uploads.create(
      tenantId,
      { name, contentType, size, ...fields } as CreateUpload,
      actor,
    );
    const owner = { tenantId, uploader: actorIdOf(actor) };
    try {
      return await this.contents.storeUnsized(owner, id, content, signal);
    } catch (error) {
      await this.uploads.delete(owner, id);
      throw error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE' ? formTooLarge() : error;
    }
  }
}

function requireFormSize({ headers }: Request): number {
  const declared = headers['content-length'];
  if (declared === undefined) throw AppError.invalidBody('Content-Length', 'required');
  if (Number(declared) > MAX_FORM_FILE_BYTES + MAX_OTHER_BYTES) throw formTooLarge();
  return Math.max(1, Number(declared));
}

function formTooLarge(): AppError {
  return AppError.because('PAYLOAD_TOO_LARGE', 'form_too_large', { max: MAX_FORM_FILE_BYTES });
}
