import { crc32, deflateSync } from 'node:zlib';

/** File as Playwright gives it to a page. */
export interface SampleFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** Makes a PNG of one colour that goes from light to dark. */
export function pngOf(name: string, width: number, height: number): SampleFile {
  const rows = Buffer.alloc(height * (1 + width * 3));
  for (let y = 0; y < height; y += 1) {
    const at = y * (1 + width * 3) + 1;
    for (let x = 0; x < width; x += 1)
      rows.set([40 + (150 * x) / width, 110 + (100 * y) / height, 79], at + x * 3);
  }
  return { name, mimeType: 'image/png', buffer: pngWith(width, height, deflateSync(rows)) };
}

/** Makes a PNG of a few kilobytes whose pixels fill hundreds of megabytes. */
export function pngBomb(name: string): SampleFile {
  return { name, mimeType: 'image/png', buffer: pngWith(12_000, 9000, deflateSync(Buffer.alloc(9000))) };
}

/** Makes the first bytes of a HEIC picture, which no browser but Safari draws. */
export function heicOf(name: string): SampleFile {
  const type = Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic'), Buffer.alloc(4)]);
  const buffer = Buffer.concat([type, Buffer.from('heicmif1'), Buffer.alloc(400)]);
  return { name, mimeType: 'image/heic', buffer };
}

/** Makes a second of silence. */
export function wavOf(name: string): SampleFile {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + 8000, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(8000, 40);
  return { name, mimeType: 'audio/wav', buffer: Buffer.concat([head, Buffer.alloc(8000, 128)]) };
}

export function textFile(name: string, text: string, mimeType = 'text/plain'): SampleFile {
  return { name, mimeType, buffer: Buffer.from(text) };
}

function pngWith(width: number, height: number, data: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', data),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
