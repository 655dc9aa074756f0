import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileTypeFromBuffer } from 'file-type/core';
import sharp from 'sharp';
import { RenditionMaker } from './rendition-maker';

const VOICE = join(__dirname, '../../../test/fixtures/files/voice.ogg');

const maker = new RenditionMaker();
const make = (content: Buffer) => maker.make('thumbnail', Readable.from([content]));

function picture(width: number, height: number) {
  const create = { width, height, channels: 3 as const, background: { r: 200, g: 30, b: 30 } };
  return sharp({ create, limitInputPixels: false });
}

async function metadataOf(content: Buffer) {
  const result = await make(content);
  if (!('content' in result)) throw new Error(result.fault);
  const { format, width, height, exif, orientation } = await sharp(result.content).metadata();
  return { format, width, height, exif, orientation };
}

describe('a thumbnail', () => {
  it('has 640 pixels at most on its longer side', async () => {
    const content = await picture(2000, 1000).jpeg().toBuffer();
    expect(await metadataOf(content)).toMatchObject({ format: 'webp', width: 640, height: 320 });
  });

  it('is not larger than its picture', async () => {
    expect(await metadataOf(await picture(30, 20).png().toBuffer())).toMatchObject({ width: 30, height: 20 });
  });

  it('is turned as the metadata of its picture say, and has none itself', async () => {
    const content = await picture(200, 100).withMetadata({ orientation: 6 }).jpeg().toBuffer();
    expect(await metadataOf(content)).toEqual({
      format: 'webp',
      width: 100,
      height: 200,
      exif: undefined,
      orientation: undefined,
    });
  });

  it.each(['gif', 'webp', 'avif'] as const)('is made of %s', async (format) => {
    const content = await picture(100, 50).toFormat(format).toBuffer();
    expect(await metadataOf(content)).toMatchObject({ format: 'webp', width: 100 });
  });

  it('is not made of a picture with more than 50 megapixels', async () => {
    const bomb = await picture(10_000, 5_001).png().toBuffer();
    expect(await make(bomb)).toEqual({ fault: expect.stringContaining('pixel limit') });
  });

  it.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
    ['text', 'no picture'],
    ['no byte', ''],
  ])('is not made of %s', async (_, content) => {
    expect(await make(Buffer.from(content))).toEqual({ fault: expect.any(String) });
  });

  it('is not made of half a picture', async () => {
    const content = await sharp({
      create: {
        width: 600,
        height: 600,
        channels: 3,
        background: 'red',
        noise: { type: 'gaussian', mean: 9, sigma: 9 },
      },
    })
      .jpeg()
      .toBuffer();
    expect(await make(content.subarray(0, content.length / 2))).toEqual({ fault: expect.any(String) });
  });

  it('is not made once its worker stops', async () => {
    const kill = new AbortController();
    const endless = new Readable({ read: () => undefined });
    const made = maker.make('thumbnail', endless, kill.signal);
    kill.abort(new Error('stopped'));
    await expect(made).rejects.toThrow('stopped');
  });

  it('is not made when its picture cannot be read', async () => {
    const source = new Readable({ read: (): void => void source.destroy(new Error('store away')) });
    await expect(maker.make('thumbnail', source)).rejects.toThrow('store away');
  });
});

describe('a voice message', () => {
  /** Returns a voice message of some ten minutes: one of three seconds, again and again. */
  const longVoice = () => Readable.from(Array.from({ length: 200 }, () => readFileSync(VOICE)));

  it('is not made if that takes too much of the processor', async () => {
    const made = maker.make('voice', longVoice(), undefined, { processorSeconds: 1, totalMs: 60_000 });
    expect(await made).toEqual({ fault: 'it took too long' });
  });

  it('is to be tried again if its process lasts too long beside others', async () => {
    const made = maker.make('voice', longVoice(), undefined, { processorSeconds: 10, totalMs: 10 });
    await expect(made).rejects.toThrow('not rendered in time');
  });

  it('is turned from Ogg with Opus into MP3 of the same length', async () => {
    const source = createReadStream(VOICE);
    const result = await maker.make('voice', source);
    if (!('content' in result)) throw new Error(result.fault);
    expect((await fileTypeFromBuffer(result.content))?.mime).toBe('audio/mpeg');
    // 3 seconds at 64 kbit a second.
    expect(result.content.length).toBeGreaterThan(22_000);
    expect(result.content.length).toBeLessThan(28_000);
  });

  it.each([
    ['no sound', 'no Ogg at all'],
    ['no byte', ''],
  ])('is not made of %s', async (_, content) => {
    expect(await maker.make('voice', Readable.from([Buffer.from(content)]))).toEqual({
      fault: expect.any(String),
    });
  });
});
