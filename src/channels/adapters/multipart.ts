import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { OutboundFile } from './outbound-file';

/** Body of a request with fields and one file. Its bytes are streamed, but their number is known. */
export interface Multipart {
  headers: Record<string, string>;
  content: Readable;
}

/** File in a multipart body, under the name of its field. */
export interface MultipartFile extends Pick<OutboundFile, 'name' | 'contentType' | 'size'> {
  field: string;
  content: Readable;
}

const HIGH_WATER_MARK = 64 * 1024;

/**
 * Makes a multipart body.
 * @param beforeEnd awaited before the last bytes, without which no server takes the body for whole
 */
export function makeMultipart(
  fields: Record<string, string>,
  file: MultipartFile,
  beforeEnd: () => Promise<void> = () => Promise.resolve(),
): Multipart {
  const boundary = `----${randomUUID()}`;
  const head = Buffer.from(
    Object.entries(fields)
      .map(
        ([name, value]) =>
          `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
      )
      .join('') +
      `--${boundary}\r\nContent-Disposition: form-data; name="${file.field}"; filename="${quotable(file.name)}"\r\n` +
      `Content-Type: ${file.contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + file.size + tail.length),
    },
    content: Readable.from(join(head, file, tail, beforeEnd), {
      objectMode: false,
      highWaterMark: HIGH_WATER_MARK,
    }),
  };
}

async function* join(
  head: Buffer,
  { content, size }: MultipartFile,
  tail: Buffer,
  beforeEnd: () => Promise<void>,
): AsyncGenerator<Buffer> {
  yield head;
  let count = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    count += chunk.length;
    if (count > size) break;
    yield chunk;
  }
  if (count !== size) throw new Error(`the file has not the ${size} bytes that its row has`);
  await beforeEnd();
  yield tail;
}

/** Escapes a file's name as browsers do. */
function quotable(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
