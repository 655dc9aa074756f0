import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';

/** The smaller first. */
export const ENCODINGS = ['br', 'gzip'] as const;
export type Encoding = (typeof ENCODINGS)[number] | 'identity';

const ENCODERS: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: promisify<Buffer, Buffer>(brotliCompress),
  gzip: promisify<Buffer, Buffer>(gzip),
  identity: (bytes) => Promise.resolve(bytes),
};

/** A file of the widget, in memory. */
export class WidgetFile {
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();
  private readonly hash: string;

  constructor(private readonly bytes: Buffer) {
    this.hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  }

  /** Compressed once, at the first request for it: the best compression takes a tenth of a second. */
  in(encoding: Encoding): Promise<Buffer> {
    const known = this.encoded.get(encoding);
    if (known) return known;
    const encoded = ENCODERS[encoding](this.bytes);
    this.encoded.set(encoding, encoded);
    return encoded;
  }

  /** Differs by encoding: the bytes do. */
  etag(encoding: Encoding): string {
    return `"${this.hash}-${encoding}"`;
  }
}
