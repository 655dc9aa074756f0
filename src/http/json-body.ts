import type { NextFunction, Request, Response } from 'express';
import { AppError } from '../common/app-error';

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;
/** Names of UTF-8, and of ASCII, which is a part of it. */
const TAKEN_CHARSETS = ['utf-8', 'utf8', 'us-ascii'];
/** Number of characters of a charset's name that an error message shows. */
const MAX_NAME = 40;

/** Decodes UTF-8 without its byte order mark, and throws at bytes that are not UTF-8. */
const strict = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses the body, which a body parser has read as bytes: it must be JSON in UTF-8. Bytes of another encoding
 * are refused, because they would silently become other characters.
 * @throws AppError INVALID_BODY
 */
export function parseJsonBody(request: Request, _: Response, next: NextFunction): void {
  const body: unknown = request.body;
  if (Buffer.isBuffer(body)) {
    requireUtf8(request.headers['content-type']);
    // An empty body counts as an empty object, because some clients declare JSON and send nothing.
    request.body = body.length === 0 ? {} : parse(body);
  }
  next();
}

function requireUtf8(contentType = ''): void {
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset === undefined || TAKEN_CHARSETS.includes(charset.toLowerCase())) return;
  throw invalid(`The body is declared as ${charset.slice(0, MAX_NAME)}, and only UTF-8 is taken.`);
}

function parse(bytes: Buffer): unknown {
  const text = decode(bytes);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('The body cannot be read as JSON.');
  }
}

function decode(bytes: Buffer): string {
  // ASCII text in UTF-16 or UTF-32 is valid UTF-8, but with NUL bytes, which JSON never has.
  if (bytes.subarray(0, 4).includes(0)) throw notUtf8();
  try {
    return strict.decode(bytes);
  } catch {
    throw notUtf8();
  }
}

function notUtf8(): AppError {
  return invalid('The body is not UTF-8, as JSON must be.');
}

function invalid(message: string): AppError {
  return new AppError('INVALID_BODY', message);
}
