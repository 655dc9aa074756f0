import { measure } from './picture-size';

const blobOf = (...parts: (string | number[])[]) =>
  new Blob(parts.map((part) => (typeof part === 'string' ? part : new Uint8Array(part))));
const zeros = (count: number) => Array.from({ length: count }, () => 0);

const PNG = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13];
/** Segment with the EXIF orientation 6: the picture is turned by a quarter. */
const TURNED = [0xff, 0xe1, 0, 34, ...Buffer.from('Exif\0\0MM\0*'), 0, 0, 0, 8, 0, 1]
  .concat([0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0])
  .concat(zeros(4));
const FRAME = [0xff, 0xc0, 0, 17, 8, 0x04, 0xb0, 0x06, 0x40, 3, ...zeros(9)];

describe('measure', () => {
  it.each([
    ['a PNG', blobOf(PNG, 'IHDR', [0, 0, 0x2e, 0xe0, 0, 0, 0x10, 0x68]), { width: 12_000, height: 4200 }],
    ['a GIF', blobOf('GIF89a', [0x40, 1, 0xf0, 0]), { width: 320, height: 240 }],
    ['a JPEG', blobOf([0xff, 0xd8], FRAME), { width: 1600, height: 1200 }],
    ['a turned JPEG', blobOf([0xff, 0xd8], TURNED, FRAME), { width: 1200, height: 1600 }],
    [
      'an extended WebP',
      blobOf('RIFF', zeros(4), 'WEBPVP8X', zeros(8), [0x3f, 1, 0, 0xef, 0, 0]),
      { width: 320, height: 240 },
    ],
    [
      'a lossless WebP',
      blobOf('RIFF', zeros(4), 'WEBPVP8L', zeros(4), [0x2f, 0x3f, 0xc1, 0x3b, 0]),
      { width: 320, height: 240 },
    ],
    [
      'a lossy WebP',
      blobOf('RIFF', zeros(4), 'WEBPVP8 ', zeros(10), [0x40, 1, 0xf0, 0]),
      { width: 320, height: 240 },
    ],
  ])('reads the size of %s', async (_, blob, size) => {
    expect(await measure(blob)).toEqual(size);
  });

  it.each([
    ['an SVG', blobOf('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ['nothing', blobOf('')],
    ['a PNG that ends early', blobOf(PNG)],
    ['a JPEG without a frame', blobOf([0xff, 0xd8], TURNED)],
    ['HEIC', blobOf(zeros(4), 'ftypheic', zeros(20))],
  ])('knows no size of %s', async (_, blob) => {
    expect(await measure(blob)).toBeNull();
  });
});
