import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PutObjectCommandInput, S3Client } from '@aws-sdk/client-s3';
import {
  FileKey,
  FileMissing,
  FileRange,
  FileStore,
  MARK,
  markOf,
  pathOf,
  PutOptions,
  StoredFile,
} from './file-store';
import { S3Settings } from '../../config/config';

type Sdk = typeof import('@aws-sdk/client-s3');

/** Smallest part that S3 accepts. An upload of unknown length holds one in memory. */
const PART_BYTES = 5 * 1024 * 1024;
const CONNECT_MS = 5_000;
/** Milliseconds without a byte after which a call fails. */
const SILENCE_MS = 20_000;
const ignore = () => undefined;
/** Logger of the client, which would write lines of its own to stderr. The callers log the errors. */
const SILENT = { trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
/** Milliseconds after which a file is looked for once more that another call was storing. */
const CONFLICT_MS = 1_000;

/**
 * Keeps files as objects of a bucket of S3, or of a server with its protocol. An object appears with its last
 * byte and is never replaced.
 */
export class S3Store extends FileStore {
  private constructor(
    private readonly settings: S3Settings,
    private readonly sdk: Sdk,
    private readonly client: S3Client,
  ) {
    super();
  }

  /** Loads the client, whose 20 MB of memory a process with files on its disk does not need. */
  static async open(settings: S3Settings): Promise<S3Store> {
    const sdk = await import('@aws-sdk/client-s3');
    const client = new sdk.S3Client({
      region: settings.region,
      ...(settings.endpoint !== null && { endpoint: settings.endpoint }),
      forcePathStyle: settings.pathStyle,
      // Many servers other than Amazon's refuse a checksum that a request need not have.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      logger: SILENT,
      requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: SILENCE_MS },
    });
    return new S3Store(settings, sdk, client);
  }

  async put(key: FileKey, source: Readable, { size, signal }: PutOptions = {}): Promise<boolean> {
    const stop = new AbortController();
    const input = {
      ...this.objectOf(pathOf(key)),
      Body: source,
      IfNoneMatch: '*',
      ...(this.settings.encryption && { ServerSideEncryption: this.settings.encryption }),
    };
    const end = (error: Error) => stop.abort(error);
    const endBySignal = () => end(signal!.reason as Error);
    source.once('error', end);
    signal?.addEventListener('abort', endBySignal, { once: true });
    try {
      signal?.throwIfAborted();
      if (size === undefined) await this.putInParts(input, stop.signal);
      else await this.putAtOnce({ ...input, ContentLength: size }, stop.signal);
      return true;
    } catch (error) {
      if (stop.signal.aborted) throw stop.signal.reason;
      if (statusOf(error) === 412) return false;
      if (statusOf(error) === 409 && (await this.appears(key))) return false;
      throw error;
    } finally {
      signal?.removeEventListener('abort', endBySignal);
      source.destroy();
    }
  }

  async open(key: FileKey, range?: FileRange): Promise<Readable> {
    const command = new this.sdk.GetObjectCommand({
      ...this.objectOf(pathOf(key)),
      ...(range && { Range: `bytes=${range.start}-${range.end}` }),
    });
    try {
      return (await this.client.send(command)).Body as Readable;
    } catch (error) {
      throw statusOf(error) === 404 ? new FileMissing() : error;
    }
  }

  async size(key: FileKey): Promise<number | null> {
    try {
      const command = new this.sdk.HeadObjectCommand(this.objectOf(pathOf(key)));
      return (await this.client.send(command)).ContentLength ?? null;
    } catch (error) {
      if (statusOf(error) === 404) return null;
      throw error;
    }
  }

  async remove(key: FileKey): Promise<void> {
    await this.client.send(new this.sdk.DeleteObjectCommand(this.objectOf(pathOf(key))));
  }

  async list(after: string, count: number): Promise<StoredFile[]> {
    const { bucket, prefix } = this.settings;
    const command = new this.sdk.ListObjectsV2Command({
      Bucket: bucket,
      Prefix: prefix,
      MaxKeys: count,
      ...(after !== '' && { StartAfter: prefix + after }),
    });
    const { Contents: objects = [] } = await this.client.send(command);
    return objects.map(({ Key: name, LastModified: modifiedAt }) => ({
      path: name!.slice(prefix.length),
      modifiedAt: modifiedAt!,
    }));
  }

  async removeIncomplete(before: Date): Promise<number> {
    const { bucket: Bucket, prefix: Prefix } = this.settings;
    const listed = await this.client.send(new this.sdk.ListMultipartUploadsCommand({ Bucket, Prefix }));
    const late = (listed.Uploads ?? []).filter(({ Initiated: begun }) => begun && begun < before);
    for (const { Key, UploadId } of late)
      await this.client.send(new this.sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    return late.length;
  }

  async hasMark(id: string): Promise<boolean> {
    try {
      await this.client.send(new this.sdk.HeadObjectCommand(this.objectOf(markOf(id))));
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return false;
      throw error;
    }
  }

  async setMark(id: string): Promise<void> {
    await this.client.send(
      new this.sdk.PutObjectCommand({ ...this.objectOf(markOf(id)), Body: Buffer.alloc(0) }),
    );
  }

  async removeMark(id: string): Promise<void> {
    await this.client.send(new this.sdk.DeleteObjectCommand(this.objectOf(markOf(id))));
  }

  async countMarks(): Promise<number> {
    const { bucket: Bucket, prefix } = this.settings;
    const input = { Bucket, Prefix: prefix + MARK };
    return (await this.client.send(new this.sdk.ListObjectsV2Command(input))).KeyCount ?? 0;
  }

  space(): Promise<null> {
    return Promise.resolve(null);
  }

  get place(): string {
    const { bucket, prefix } = this.settings;
    return `The bucket ${bucket}/${prefix} (FILE_STORE_BUCKET)`;
  }

  /** Reports whether a file appears that another call was storing, and so was in the way of this one. */
  private async appears(key: FileKey): Promise<boolean> {
    if ((await this.size(key)) !== null) return true;
    await sleep(CONFLICT_MS);
    return (await this.size(key)) !== null;
  }

  private async putAtOnce(input: PutObjectCommandInput, abortSignal: AbortSignal): Promise<void> {
    await this.client.send(new this.sdk.PutObjectCommand(input), { abortSignal });
  }

  private async putInParts(params: PutObjectCommandInput, signal: AbortSignal): Promise<void> {
    const { Upload } = await import('@aws-sdk/lib-storage');
    const upload = new Upload({ client: this.client, params, queueSize: 1, partSize: PART_BYTES });
    const abort = () => void upload.abort();
    signal.addEventListener('abort', abort, { once: true });
    await upload.done();
  }

  private objectOf(path: string): { Bucket: string; Key: string } {
    const { bucket, prefix } = this.settings;
    return { Bucket: bucket, Key: prefix + path };
  }
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode;
}
