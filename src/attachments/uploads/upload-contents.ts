import { PassThrough, type Readable } from 'node:stream';
import type { Request } from 'express';
import { Injectable, Logger } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { Database } from '../../database/database';
import { Connections } from '../../http/connections/connections';
import { WorkBudgets } from '../../http/limits/work-budgets';
import { ExpectedFile, FileIntake, FileRefused, RefusedFile } from '../files/file-intake';
import { FileEntity } from '../files/file.entity';
import { FilesRepository } from '../files/files.repository';
import { FileSpace } from '../files/file-space';
import { FileStore, FileStoreFault } from '../store/file-store';
import { toUpload, UploadResponse } from './upload.dto';
import { CONTENT_MS, Uploader } from './upload-writer';
import { UploadsService } from './uploads.service';
import { watchProgress } from './watched-progress';

/** Milliseconds for which an upload with content lives without a message. */
const UNUSED_MS = 24 * 3_600_000;

/** Receives the contents of uploads. */
@Injectable()
export class UploadContents {
  private readonly logger = new Logger(UploadContents.name);

  constructor(
    private readonly database: Database,
    private readonly budgets: WorkBudgets,
    private readonly connections: Connections,
    private readonly uploads: UploadsService,
    private readonly files: FilesRepository,
    private readonly space: FileSpace,
    private readonly intake: FileIntake,
    private readonly store: FileStore,
  ) {}

  /**
   * Stores the body of a request as the content of an upload. A repeated request gets the first answer again.
   * @throws AppError NOT_FOUND; INVALID_BODY: no Content-Length, or content that is not as declared;
   *   PAYLOAD_TOO_LARGE; REQUEST_TIMEOUT: the body comes too slowly; RATE_LIMITED, UNAVAILABLE
   */
  async put(owner: Uploader, id: string, request: Request): Promise<UploadResponse> {
    const file = await this.requireFor(owner, id, request);
    return this.budgets.waitOutside('uploads', owner.tenantId, () => this.receiveBody(file, request));
  }

  /**
   * Stores the body of a visitor's request, as `put` does. Visitors have slots of their own, so that
   * strangers cannot keep agents from uploading.
   * @throws AppError as `put`
   */
  async putOfVisitor(owner: Uploader, id: string, request: Request): Promise<UploadResponse> {
    const file = await this.requireFor(owner, id, request);
    const release = await this.budgets.acquire('ownUploads', owner.uploader);
    try {
      return await this.budgets.waitOutside('visitorUploads', owner.tenantId, () =>
        this.receiveBody(file, request),
      );
    } finally {
      release();
    }
  }

  /**
   * Stores the content of an upload, whose size is at most the declared one, and gives back the space that it
   * does not take.
   * @throws AppError NOT_FOUND, INVALID_BODY, PAYLOAD_TOO_LARGE; the reason of the signal
   */
  async storeUnsized(
    owner: Uploader,
    id: string,
    content: Readable,
    signal: AbortSignal,
  ): Promise<UploadResponse> {
    return this.receive(await this.uploads.require(owner, id), content, { signal });
  }

  private async requireFor(owner: Uploader, id: string, request: Request): Promise<FileEntity> {
    const file = await this.uploads.require(owner, id);
    requireSize(request, file);
    return file;
  }

  private async receiveBody(file: FileEntity, request: Request): Promise<UploadResponse> {
    this.connections.letTakeTime(request);
    const progress = watchProgress(request);
    try {
      // The pipe keeps the request from being destroyed, so that a failure can be answered.
      const content = request.pipe(new PassThrough());
      return await this.receive(file, content, { size: file.size, signal: progress.signal });
    } finally {
      progress.stop();
    }
  }

  private async receive(
    file: FileEntity,
    content: Readable,
    given: Pick<ExpectedFile, 'size'> & { signal: AbortSignal },
  ): Promise<UploadResponse> {
    const { tenantId, id: fileId, size, declaredSha256: sha256, declaredType: contentType } = file;
    const key = { tenantId, fileId };
    try {
      const expected = { maxBytes: size, sha256, contentType, ...given };
      const facts = await this.intake.take(key, content, expected);
      const deleteAt = file.deleteAt && new Date(file.deleteAt.getTime() + UNUSED_MS - CONTENT_MS);
      const isKept = await this.database.transaction(async (tx) => {
        if (!(await this.files.setStored(tx, key, facts, deleteAt))) return false;
        if (facts.size < size) await this.space.release(tx, tenantId, size - facts.size);
        return true;
      });
      // Its row may be gone with its workspace, so that nothing would ever remove the bytes.
      if (!isKept) await this.store.remove(key);
    } catch (error) {
      if (given.signal.aborted) throw given.signal.reason;
      if (error instanceof FileRefused) throw refusal(error.why, file);
      if (!(error instanceof FileStoreFault)) throw error;
      this.logger.error({ err: error, ...key }, 'the bytes of an upload were not stored');
      throw AppError.busy();
    }
    return toUpload(await this.uploads.require({ tenantId, uploader: file.uploader! }, fileId));
  }
}

function requireSize({ headers }: Request, { size }: FileEntity): void {
  const declared = headers['content-length'];
  if (declared === undefined) throw AppError.invalidBody('Content-Length', 'required');
  if (declared === '0') throw AppError.invalidBody('content', 'file_empty');
  if (Number(declared) > size) throw AppError.because('PAYLOAD_TOO_LARGE', 'upload_too_large', { max: size });
  if (Number(declared) !== size) throw AppError.invalidBody('content', 'size_differs', { size });
}

function refusal(why: RefusedFile, { size }: FileEntity): AppError {
  if (why === 'too_large') return AppError.because('PAYLOAD_TOO_LARGE', 'upload_too_large', { max: size });
  if (why === 'empty') return AppError.invalidBody('content', 'file_empty');
  if (why === 'size_differs') return AppError.invalidBody('content', 'size_differs', { size });
  return AppError.invalidBody('content', 'checksum_differs');
}
