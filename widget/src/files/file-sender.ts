import { fileToUpload, type Outbox } from '../outbox/outbox';
import type { FileProblem, OutboxRecord } from '../outbox/outbox-record';
import { RetriedWork } from '../outbox/retried-work';
import { takeBack } from '../outbox/take-back';
import { isRefusedRequest, reasonOf, statusOf } from '../protocol/service-client';
import type { VisitorSession } from '../session/visitor-session';
import type { SharedFiles } from './shared-files';

/** Uploads the files of one visitor's unsent messages, one at a time. */
export class FileSender {
  private readonly work: RetriedWork;
  /** Upload that is running, so that the visitor can cancel it. */
  private current: { record: OutboxRecord; aborter: AbortController } | null = null;

  /**
   * @param onProgress receives the part of a file, from 0 to 1, that is sent
   * @param onUploaded called when a message's files may all be uploaded
   */
  constructor(
    private readonly outbox: Outbox,
    private readonly files: SharedFiles,
    private readonly session: VisitorSession,
    private readonly onProgress: (fileId: string, part: number) => void,
    private readonly onUploaded: () => void,
    onRefused: (error: unknown) => void,
  ) {
    this.work = new RetriedWork((signal) => this.uploadNext(signal), onRefused);
  }

  wake(): void {
    const { current } = this;
    if (current && this.outbox.isCancelled(current.record)) current.aborter.abort();
    this.work.wake();
  }

  async stop(): Promise<void> {
    const stopped = this.work.stop();
    this.current?.aborter.abort();
    await stopped;
  }

  private async uploadNext(signal: AbortSignal): Promise<boolean> {
    const record = this.outbox.nextToUpload();
    if (!record) return false;
    if (record.state === 'cancelled') return takeBack(record, this.outbox, this.session);
    const aborter = new AbortController();
    this.current = { record, aborter };
    try {
      await this.upload(record, AbortSignal.any([signal, aborter.signal]));
    } catch (error) {
      if (isRefusedRequest(error)) await this.outbox.markFailed(record, problemOf(error));
      // The next step takes a cancelled message back.
      else if (!this.outbox.isCancelled(record)) throw error;
    } finally {
      this.current = null;
    }
    return true;
  }

  private async upload(record: OutboxRecord, signal: AbortSignal): Promise<void> {
    const { fileId, name, type, size, uploadId: known } = fileToUpload(record)!;
    const blob = await this.files.find(fileId);
    if (!blob) return this.outbox.markFailed(record, 'fileGone');
    const uploadId = known ?? (await this.create({ name, contentType: type || UNKNOWN_TYPE, size }));
    if (!known) await this.outbox.changeFile(record, fileId, { uploadId });
    try {
      await this.session.upload(`/uploads/${uploadId}/content`, blob, signal, (part) =>
        this.onProgress(fileId, part),
      );
    } catch (error) {
      if (statusOf(error) !== 404 || !known) throw error;
      // The upload has expired since an earlier attempt, so the next step makes another one.
      return this.outbox.changeFile(record, fileId, { uploadId: undefined });
    }
    await this.outbox.changeFile(record, fileId, { isUploaded: true });
    this.onUploaded();
  }

  private async create(file: { name: string; contentType: string; size: number }): Promise<string> {
    return (await this.session.call<{ id: string }>('POST', '/uploads', file)).id;
  }
}

const UNKNOWN_TYPE = 'application/octet-stream';

function problemOf(error: unknown): FileProblem {
  const reason = reasonOf(error);
  if (reason === 'files_full' || reason === 'uploads_unused') return 'noRoom';
  if (reason === 'file_empty') return 'fileEmpty';
  return statusOf(error) === 413 ? 'fileTooLarge' : 'fileRefused';
}
