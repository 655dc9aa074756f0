import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createDeflateRaw } from 'node:zlib';

/** File of an archive. */
export interface ZipEntry {
  /** Path in the archive, with `/` between its parts. */
  path: string;
  content: Readable | AsyncIterable<Uint8Array>;
}

interface WrittenEntry {
  path: Buffer;
  crc: number;
  packedBytes: number;
  bytes: number;
  offset: number;
}

/** Version of the format that a reader must know: 4.5 has sizes of more than 32 bits. */
const VERSION = 45;
/** Flags: the sizes follow the content, and the path is UTF-8. */
const FLAGS = 0x0808;
const DEFLATED = 8;
/** MS-DOS date of 1 January 1980: an archive tells no time. */
const NO_TIME = 0x0021_0000;
/** Value that refers to the field of 64 bits. */
const LARGE = 0xffff_ffff;
const MANY = 0xffff;
/** Level of compression. A higher one costs more than it saves, since most files are compressed already. */
const LEVEL = 1;

/**
 * Writes a ZIP archive. It holds one file's stream at a time, and some 100 bytes of each file before.
 * Readers that know ZIP64 take it, of any size; a single file may have up to 4 GiB.
 */
export async function* zipArchive(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Buffer> {
  const written: WrittenEntry[] = [];
  let offset = 0;
  for await (const { path: name, content } of entries) {
    const path = Buffer.from(name);
    const entry = { path, crc: 0, packedBytes: 0, bytes: 0, offset };
    written.push(entry);
    yield localHeader(path);
    for await (const chunk of deflated(content, entry)) {
      entry.packedBytes += chunk.length;
      yield chunk;
    }
    const descriptor = fields([4, 0x0807_4b50], [4, entry.crc], [4, entry.packedBytes], [4, entry.bytes]);
    yield descriptor;
    offset += 30 + path.length + entry.packedBytes + descriptor.length;
  }
  let directoryBytes = 0;
  for (const entry of written) {
    const header = directoryHeader(entry);
    directoryBytes += header.length;
    yield header;
  }
  yield end(written.length, directoryBytes, offset);
}

/** Yields the compressed content, and notes checksum and size of the content. */
async function* deflated(content: ZipEntry['content'], entry: WrittenEntry): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw({ level: LEVEL });
  const packed = pipeline(content, (chunks) => measured(chunks as AsyncIterable<Uint8Array>, entry), deflate);
  // Its error ends the reading below, too.
  packed.catch(() => undefined);
  yield* deflate as AsyncIterable<Buffer>;
  await packed;
}

async function* measured(chunks: AsyncIterable<Uint8Array>, entry: WrittenEntry): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    entry.crc = crc32(chunk, entry.crc);
    entry.bytes += chunk.length;
    if (entry.bytes >= LARGE) throw new Error('a file of an archive has 4 GiB or more');
    yield chunk;
  }
}

function localHeader(path: Buffer): Buffer {
  const sizes: Field[] = [
    [4, 0],
    [4, 0],
    [4, 0],
  ];
  const head = fields([4, 0x0403_4b50], [2, VERSION], [2, FLAGS], [2, DEFLATED], [4, NO_TIME], ...sizes);
  return Buffer.concat([head, fields([2, path.length], [2, 0]), path]);
}

function directoryHeader({ path, crc, packedBytes, bytes, offset }: WrittenEntry): Buffer {
  const extra = fields([2, 1], [2, 8], [8, offset]);
  return Buffer.concat([
    fields([4, 0x0201_4b50], [2, VERSION], [2, VERSION], [2, FLAGS], [2, DEFLATED], [4, NO_TIME]),
    fields([4, crc], [4, packedBytes], [4, bytes], [2, path.length], [2, extra.length], [2, 0]),
    fields([2, 0], [2, 0], [4, 0], [4, LARGE]),
    path,
    extra,
  ]);
}

/** Makes the end of an archive: the record of ZIP64, its locator, and the record that older readers know. */
function end(count: number, directoryBytes: number, offset: number): Buffer {
  return Buffer.concat([
    fields([4, 0x0606_4b50], [8, 44], [2, VERSION], [2, VERSION], [4, 0], [4, 0]),
    fields([8, count], [8, count], [8, directoryBytes], [8, offset]),
    fields([4, 0x0706_4b50], [4, 0], [8, offset + directoryBytes], [4, 1]),
    fields([4, 0x0605_4b50], [2, 0], [2, 0], [2, Math.min(count, MANY)], [2, Math.min(count, MANY)]),
    fields([4, Math.min(directoryBytes, LARGE)], [4, Math.min(offset, LARGE)], [2, 0]),
  ]);
}

type Field = [bytes: 2 | 4 | 8, value: number];

function fields(...given: Field[]): Buffer {
  const record = Buffer.alloc(given.reduce((sum, [bytes]) => sum + bytes, 0));
  let at = 0;
  for (const [bytes, value] of given) {
    if (bytes === 8) record.writeBigUInt64LE(BigInt(value), at);
    else record.writeUIntLE(value, at, bytes);
    at += bytes;
  }
  return record;
}
