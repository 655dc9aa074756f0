import { fileTypeFromBuffer } from 'file-type/core';
import { imageSize } from 'image-size';
import { FileKind } from '../../common/file-limits';
import { FileFacts } from './file.entity';

/** Number of bytes at the start of a file that tell its type, and a picture's size. */
export const HEAD_BYTES = 256 * 1024;

type Found = Omit<FileFacts, 'size' | 'sha256'>;

/** Types of documents whose bytes tell no more than the container that they share. */
const DECLARED_IN_CONTAINER: Record<string, RegExp> = {
  'application/x-cfb': /^application\/(msword|vnd\.ms-(excel|powerpoint|outlook))$/,
  'application/zip':
    /^application\/(vnd\.openxmlformats-officedocument\.[a-z.]+|vnd\.oasis\.opendocument\.[a-z]+|epub\+zip)$/,
};
/** Types of plain texts, which bytes cannot tell apart. None of them is run by a browser. */
const DECLARED_TEXT = /^text\/(plain|csv|tab-separated-values|calendar|vcard)$/;
/** Names of a type that providers do not take, and the name that they take. */
const NAMES: Record<string, string> = {
  'audio/opus': 'audio/ogg',
  'audio/x-m4a': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'audio/mp3': 'audio/mpeg',
  'audio/vnd.wave': 'audio/wav',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'image/apng': 'image/png',
};
/** Pictures that browsers draw. Other pictures, such as SVG, HEIC or TIFF, are files. */
const IMAGES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp', 'image/avif'];
const OCTETS = 'application/octet-stream';

/**
 * Tells kind and type of a file from its first bytes. The declared type counts only among types that bytes
 * cannot tell apart.
 */
export async function factsOf(head: Buffer, isWhole: boolean, declaredType: string | null): Promise<Found> {
  const contentType = await typeOf(head, isWhole, declaredType?.toLowerCase().split(';')[0]!.trim() ?? '');
  const kind = kindOf(contentType);
  return { kind, contentType, ...(kind === 'IMAGE' ? pixelsOf(head) : { width: null, height: null }) };
}

function kindOf(contentType: string): FileKind {
  if (IMAGES.includes(contentType)) return 'IMAGE';
  if (contentType.startsWith('audio/')) return 'AUDIO';
  return contentType.startsWith('video/') ? 'VIDEO' : 'FILE';
}

async function typeOf(head: Buffer, isWhole: boolean, declared: string): Promise<string> {
  // A file that the library cannot parse has an unknown type.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (!found) return isText(head, isWhole) ? textTypeOf(head, declared) : OCTETS;
  const mime = found.mime.split(';')[0]!;
  if (DECLARED_IN_CONTAINER[mime]?.test(declared)) return declared;
  if (mime === 'video/ogg' && declared === 'audio/ogg') return 'audio/ogg';
  if (mime === 'video/mp4' && declared.startsWith('audio/') && !hasVideoTrack(head)) return 'audio/mp4';
  if (mime === 'video/webm' && declared.startsWith('audio/')) return 'audio/webm';
  return NAMES[mime] ?? mime;
}

/** Reports whether bytes are UTF-8 without NUL. The last character may be cut off unless they are whole. */
function isText(head: Buffer, isWhole: boolean): boolean {
  if (head.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Returns the type of a text. HTML, SVG and other XML keep a type that is only ever downloaded. */
function textTypeOf(head: Buffer, declared: string): string {
  if (head.subarray(0, 1024).toString().trimStart().startsWith('<')) return OCTETS;
  return DECLARED_TEXT.test(declared) ? declared : 'text/plain';
}

/** Reports whether the beginning of an MP4 names a handler of video. */
function hasVideoTrack(head: Buffer): boolean {
  return head.includes('vide', 0, 'latin1');
}

/** Largest width or height in pixels that is stored. Only a forged picture claims more. */
const MAX_PIXELS = 1_000_000;

function pixelsOf(head: Buffer): Pick<Found, 'width' | 'height'> {
  try {
    const { width, height, orientation = 1 } = imageSize(head);
    if (Math.max(width, height) > MAX_PIXELS) return { width: null, height: null };
    // Orientations above 4 turn the picture by a quarter.
    return orientation > 4 ? { width: height, height: width } : { width, height };
  } catch {
    return { width: null, height: null };
  }
}
