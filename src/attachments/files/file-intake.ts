import { createHash } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { FileKey, FileStore, FileStoreFault } from '../store/file-store';
import { factsOf, HEAD_BYTES } from './file-facts';
import { FileFacts } from './file.entity';
import { IntakePace } from './intake-pace';

export interface ExpectedFile {
  maxBytes: number;
  /** Number of bytes, if known. */
  size?: number;
  sha256?: Buffer | null;
  contentType: string | null;
  signal?: AbortSignal;
}

export type RefusedFile = 'too_large' | 'empty' | 'size_differs' | 'checksum_differs';

/** Error of a file whose bytes are not as expected. Nothing of them is shown. */
export class FileRefused extends Error {
  constructor(readonly why: RefusedFile) {
    super(`the file was refused: ${why}`);
  }
}

/** Stores the bytes of files and reads their facts, in one pass that holds the first bytes alone. */
@Injectable()
export class FileIntake {
  constructor(
    private readonly store: FileStore,
    private readonly pace: IntakePace,
  ) {}

  /**
   * Stores the bytes of a file. If the store has bytes under the key already, from a call whose answer was
   * lost, those are kept and read instead.
   * @returns the facts of the stored bytes, which are durable
   * @throws FileRefused, FileStoreFault, the error of the source, the reason of the signal
   */
  async take(key: FileKey, source: Readable, expected: ExpectedFile): Promise<FileFacts> {
    const reader = new FileReader(expected, (bytes) => this.pace.take(key.tenantId, bytes));
    const { size, signal } = expected;
    // The error of the source ends the reader, and with it the call of the store.
    source.once('error', (error) => reader.destroy(error));
    // The reader may fail before the store reads it, and then tells the store of its error.
    reader.once('error', () => source.destroy());
    reader.once('close', () => source.destroy());
    const isStored = await this.store.put(key, source.pipe(reader), { size, signal }).catch((error) => {
      throw error instanceof FileRefused || source.errored || signal?.aborted
        ? error
        : new FileStoreFault(error);
    });
    if (isStored) return reader.facts();
    const kept = new FileReader(expected);
    const stored = await this.store.open(key).catch((error) => {
      throw new FileStoreFault(error);
    });
    stored.once('error', (error) => kept.destroy(error));
    for await (const chunk of stored.pipe(kept)) void chunk;
    return kept.facts();
  }
}

/**
 * Counts and hashes the bytes that pass, and keeps the first of them. Holds the last bytes back until all are
 * as expected, because a store may complete a file once it has its size.
 */
class FileReader extends Transform {
  private readonly hash = createHash('sha256');
  private readonly head: Buffer[] = [];
  private headBytes = 0;
  private size = 0;
  private held: Buffer | undefined;

  constructor(
    private readonly expected: ExpectedFile,
    /** Waits until bytes may pass; undefined if they may at once. */
    private readonly wait?: (bytes: number) => Promise<void> | undefined,
  ) {
    super();
  }

  /** Returns the facts of the bytes. Call it after the last byte. */
  async facts(): Promise<FileFacts> {
    const head = Buffer.concat(this.head);
    const found = await factsOf(head, head.length === this.size, this.expected.contentType);
    return { size: this.size, sha256: this.hash.digest(), ...found };
  }

  override _transform(
    chunk: Buffer,
    _: BufferEncoding,
    done: (error: Error | null, data?: Buffer) => void,
  ): void {
    this.size += chunk.length;
    if (this.size > this.expected.maxBytes) return done(new FileRefused('too_large'));
    if (this.size > (this.expected.size ?? Infinity)) return done(new FileRefused('size_differs'));
    this.hash.update(chunk);
    if (this.headBytes < HEAD_BYTES) {
      const kept = chunk.subarray(0, HEAD_BYTES - this.headBytes);
      this.head.push(kept);
      this.headBytes += kept.length;
    }
    const earlier = this.held;
    this.held = chunk;
    const turn = this.wait?.(chunk.length);
    if (turn) void turn.then(() => done(null, earlier));
    else done(null, earlier);
  }

  override _flush(done: (error: Error | null, data?: Buffer) => void): void {
    const { size, sha256 } = this.expected;
    if (this.size === 0) return done(new FileRefused('empty'));
    if (size !== undefined && this.size !== size) return done(new FileRefused('size_differs'));
    if (sha256 && !this.hash.copy().digest().equals(sha256)) return done(new FileRefused('checksum_differs'));
    done(null, this.held);
  }
}
