import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { Request } from 'express';
import { AppError } from '../../common/app-error';

/** File of a form, whose content is still arriving, and the fields that came before it. */
export interface FormFile {
  fields: Record<string, string>;
  name: string;
  contentType: string | undefined;
  content: Readable;
}

const LIMITS = { files: 1, fields: 5, fieldNameSize: 50, fieldSize: 200, headerPairs: 20, headerSize: 8192 };
/** Type that clients name if they know none. */
const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * Reads a form up to its file.
 * @throws AppError INVALID_BODY: the body is no form, or has no file; the signal's reason
 */
export function readFormFile(request: Request, signal: AbortSignal): Promise<FormFile> {
  return new Promise((resolve, reject) => {
    const form = parserOf(request);
    if (!form) return reject(invalid('A form sent as multipart/form-data is required.'));
    const fields: Record<string, string> = {};
    let content: Readable | undefined;
    const fail = (error: Error) => {
      reject(error);
      content?.destroy(error);
    };
    form.on('field', (field, value, _, isCut) => {
      if (isCut) fail(AppError.invalidBody(field, 'too_long', { max: LIMITS.fieldSize }));
      else fields[field] = value;
    });
    form.on('file', (field, stream, name, _, contentType) => {
      content = stream;
      // After a failure the stream has no other listener, and an error without one ends the process.
      content.on('error', () => undefined);
      if (field !== 'file') return fail(AppError.invalidBody(field, 'unknown_field'));
      resolve({
        fields,
        name,
        contentType: contentType === UNKNOWN_TYPE ? undefined : contentType,
        content,
      });
    });
    form.on('error', () => fail(invalid('The form cannot be read.')));
    form.on('finish', () => fail(AppError.invalidBody('file', 'required')));
    signal.addEventListener('abort', () => fail(signal.reason as Error), { once: true });
    request.pipe(form);
  });
}

function parserOf({ headers }: Request): BusboyInstance | null {
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) return null;
  try {
    return new Busboy({ headers: headers as BusboyHeaders, limits: LIMITS });
  } catch {
    return null;
  }
}

function invalid(message: string): AppError {
  return new AppError('INVALID_BODY', message);
}
