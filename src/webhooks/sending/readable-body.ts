import { isUtf8 } from 'node:buffer';
import { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { MAX_RESPONSE_BYTES } from './delivery-exchange';

/** First 16 KiB of a response body: as text if it is UTF-8, otherwise in base64. */
export interface ReceivedBody {
  encoding: 'utf8' | 'base64';
  body: string;
  /**
   * Text of a body that is not UTF-8, at most 16 KiB. The body is unpacked (`Content-Encoding`: gzip,
   * deflate, br) and decoded by its `charset`; text without a `charset` is decoded as Windows-1252. Absent if
   * the body is no text.
   */
  decoded?: string;
}

const MAX_CODINGS = 3;
const GZIP_MAGIC = Buffer.of(0x1f, 0x8b, 8);
/** Low four bits of data in zlib's format (RFC 1950). Many servers send `deflate` without this format. */
const ZLIB_METHOD = 8;

/** Returns a response body as a person can read it. `headers` is null if they were not stored. */
export async function toReadable(bytes: Buffer, headers: string | null): Promise<ReceivedBody> {
  if (isUtf8(bytes)) return { encoding: 'utf8', body: bytes.toString() };
  const decoded = textOf(await unpack(bytes, codingsOf(bytes, headers)), headers);
  return { encoding: 'base64', body: bytes.toString('base64'), ...(decoded !== null && { decoded }) };
}

/** Returns the content codings of a body, the last applied first. */
function codingsOf(bytes: Buffer, headers: string | null): string[] {
  if (headers === null) return bytes.subarray(0, GZIP_MAGIC.length).equals(GZIP_MAGIC) ? ['gzip'] : [];
  const named = headerOf(headers, 'content-encoding').toLowerCase().split(',');
  return named
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity')
    .reverse();
}

/** Returns the unpacked body, up to the size limit or its first fault; null if it can't be unpacked. */
async function unpack(bytes: Buffer, codings: string[]): Promise<Buffer | null> {
  if (codings.length > MAX_CODINGS) return null;
  let body: Buffer = bytes;
  for (const coding of codings) {
    const decoder = decoderOf(coding, body);
    if (!decoder) return null;
    body = await firstBytesOf(body, decoder);
    if (body.length === 0) return null;
  }
  return body;
}

/** Returns a decoder that accepts a body that was cut off; null for an unknown coding. */
function decoderOf(coding: string, body: Buffer): Transform | null {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants;
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ finishFlush: Z_SYNC_FLUSH });
    case 'deflate':
      return (body[0]! & 0x0f) === ZLIB_METHOD
        ? createInflate({ finishFlush: Z_SYNC_FLUSH })
        : createInflateRaw({ finishFlush: Z_SYNC_FLUSH });
    case 'br':
      return createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH });
    default:
      return null;
  }
}

/** Returns the first MAX_RESPONSE_BYTES of a decoder's output. The decoder unpacks little more than that. */
async function firstBytesOf(body: Buffer, decoder: Transform): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let missing = MAX_RESPONSE_BYTES;
  decoder.end(body);
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, missing));
      missing -= chunk.length;
      if (missing <= 0) break;
    }
  } catch {
    // The body is broken, so only the part before the fault is shown.
  }
  return Buffer.concat(chunks);
}

/** Returns the text of an unpacked body; null if it is no text. */
function textOf(body: Buffer | null, headers: string | null): string | null {
  if (body === null) return null;
  const type = headers === null ? '' : headerOf(headers, 'content-type');
  const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(type)?.[1];
  const isText =
    charset !== undefined || /^\s*(text\/|application\/(json|xml)|[^;]*\+(json|xml))/i.test(type);
  if (isUtf8(body)) return body.toString();
  if (isCutUtf8(body)) return new TextDecoder().decode(body, { stream: true });
  if (!isText || (charset === undefined && body.includes(0))) return null;
  return decode(body, charset ?? 'windows-1252');
}

/** Reports whether a body is UTF-8 whose last character is cut by the size limit. */
function isCutUtf8(body: Buffer): boolean {
  return body.length === MAX_RESPONSE_BYTES && [1, 2, 3].some((end) => isUtf8(body.subarray(0, -end)));
}

function decode(body: Buffer, charset: string): string | null {
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return null;
  }
}

function headerOf(headers: string, name: string): string {
  const line = headers.split('\n').find((one) => one.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1) ?? '';
}
