import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Response } from 'express';

/**
 * Sends lines of text, as they are read, as a file to save. The first line is read before the answer begins,
 * so that a wrong request gets an error. A fault in the middle cuts the connection, because a file that ends
 * early must not look complete.
 */
export async function sendFile(
  text: AsyncGenerator<string, void>,
  { name, type }: { name: string; type: string },
  response: Response,
): Promise<void> {
  const first = await text.next();
  response.attachment(name).type(type);
  try {
    await pipeline(Readable.from(withFirst(first, text)), response);
  } catch (error) {
    // The person has cancelled the download.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
}

async function* withFirst(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  if (first.done) return;
  yield first.value;
  yield* rest;
}
