import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { sendKept } from '../connections/kept-bytes';

/** Compressions of a served file, the one with the smallest result first. */
export const ENCODINGS = ['br', 'gzip'] as const;
type Compression = (typeof ENCODINGS)[number];
export type Encoding = Compression | 'identity';

/** File that is served from memory, with compressed forms of it if there are any. */
export class EncodedFile {
  private readonly hash: string;

  /** @param compressed bytes of each encoding that the file has; promises while the file is compressed */
  constructor(
    private readonly bytes: Buffer,
    private readonly compressed: Partial<Record<Compression, Buffer | Promise<Buffer>>>,
  ) {
    this.hash = createHash('sha256').update(bytes).digest('base64url').slice(0, 16);
  }

  async read(encoding: Encoding): Promise<Buffer> {
    return encoding === 'identity' ? this.bytes : this.compressed[encoding]!;
  }

  /** Sends the file. A HEAD request, or a client that has this version (`ETag`), gets no body. */
  async send(request: Request, response: Response, headers: Record<string, string>): Promise<void> {
    const encoding =
      ENCODINGS.find((candidate) => candidate in this.compressed && request.acceptsEncodings(candidate)) ??
      'identity';
    response.set({ ...headers, ETag: `"${this.hash}-${encoding}"` });
    if (encoding !== 'identity') response.set('Content-Encoding', encoding);
    sendKept(response, await this.read(encoding));
  }
}
