import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { toReadable } from './readable-body';

const LIMIT = 16 * 1024;
const PAGE = '<h1>Zoë: 漢字</h1>'.repeat(20);
const packed = (coding: string) => `content-encoding: ${coding}\ncontent-type: text/html; charset=utf-8\n`;

describe('a response body', () => {
  it('is text if it is UTF-8', async () => {
    expect(await toReadable(Buffer.from(PAGE), packed('identity'))).toEqual({ encoding: 'utf8', body: PAGE });
  });

  it.each([
    ['gzip', gzipSync(PAGE)],
    ['x-gzip', gzipSync(PAGE)],
    ['deflate', deflateSync(PAGE)],
    ['deflate', deflateRawSync(PAGE)],
    ['br', brotliCompressSync(PAGE)],
    ['GZip', gzipSync(PAGE)],
    ['deflate, gzip', gzipSync(deflateSync(PAGE))],
  ])('is shown unpacked (public report 25): %s', async (coding, bytes) => {
    const shown = { encoding: 'base64', body: bytes.toString('base64'), decoded: PAGE };
    expect(await toReadable(bytes, packed(coding))).toEqual(shown);
  });

  it('is unpacked without headers if it is gzip (public report 25)', async () => {
    expect(await toReadable(gzipSync(PAGE), null)).toMatchObject({ decoded: PAGE });
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(10_000_000, 'a'))],
    ['br', brotliCompressSync(Buffer.alloc(10_000_000, 'a'))],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(10_000_000, 'a')))],
  ])('is unpacked up to the limit: %s', async (coding, bytes) => {
    const { decoded } = await toReadable(bytes.subarray(0, LIMIT), packed(coding));
    expect(decoded).toMatch(/^a+$/);
    expect(decoded!.length).toBeLessThanOrEqual(LIMIT);
  });

  it('is unpacked as far as it was kept', async () => {
    const noise = Array.from({ length: 4_000 }, (_, n) => `line ${(n * 7_919) % 10_007}`).join('\n');
    const { decoded } = await toReadable(gzipSync(noise).subarray(0, 4_000), packed('gzip'));
    expect(noise.startsWith(decoded!)).toBe(true);
    expect(decoded!.length).toBeGreaterThan(1_000);
  });

  it.each([
    ['charset=iso-8859-1', Buffer.from('Grüße', 'latin1'), 'Grüße'],
    ['charset="windows-1251"', Buffer.of(0xcf, 0xf0, 0xe8), 'При'],
    ['charset=Shift_JIS', Buffer.of(0x93, 0xfa, 0x96, 0x7b), '日本'],
    ['', Buffer.from('Grüße', 'latin1'), 'Grüße'],
  ])('is read in its charset (public report 25): %s', async (charset, bytes, decoded) => {
    const headers = `content-type: text/plain; ${charset}\n`;
    expect(await toReadable(bytes, headers)).toMatchObject({ encoding: 'base64', decoded });
  });

  it('is text although the limit cut its last character', async () => {
    const bytes = Buffer.from('漢'.repeat(LIMIT)).subarray(0, LIMIT);
    expect(await toReadable(bytes, null)).toMatchObject({ decoded: '漢'.repeat(Math.floor(LIMIT / 3)) });
  });

  it.each([
    ['no text', Buffer.of(0xff, 0xfe, 0), 'content-type: image/png\n'],
    ['an unknown coding', Buffer.of(0xff, 1), packed('zz')],
    ['broken', Buffer.of(0xff, 1, 2, 3), packed('gzip')],
    ['packed too often', gzipSync(PAGE), packed('gzip, gzip, gzip, gzip')],
    ['of an unknown charset', Buffer.of(0xff), 'content-type: text/plain; charset=klingon\n'],
  ])('has no text if it is %s', async (_, bytes, headers) => {
    expect(await toReadable(bytes, headers)).toEqual({ encoding: 'base64', body: bytes.toString('base64') });
  });
});
