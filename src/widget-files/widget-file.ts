import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** Encodings of a file, the smaller one first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number] | 'identity';

const compressBrotli = promisify<Buffer, Buffer>(brotliCompress);
const compressGzip = promisify<Buffer, Buffer>(gzip);

/** A file of the widget, in memory. */
export class WidgetFile {
  private readonly encoded: Record<Encoding, Promise<Buffer>>;
  private readonly hash: string;

  /**
   * Compresses the file in other threads while the process starts: the best compression takes a tenth of a
   * second.
   */
  constructor(bytes: Buffer) {
    this.encoded = { br: compressBrotli(bytes), gzip: compressGzip(bytes), identity: Promise.resolve(bytes) };
    this.hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  }

  read(encoding: Encoding): Promise<Buffer> {
    return this.encoded[encoding];
  }

  /** Returns the entity tag of an encoding's bytes. */
  etag(encoding: Encoding): string {
    return `"${this.hash}-${encoding}"`;
  }
}
