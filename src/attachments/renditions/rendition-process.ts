// Program that reads a file from its standard input and writes a rendition of it to its standard output: the
// thumbnail of a picture in WebP, or a voice message in MP3. It has a process of its own, without the
// service's environment, because decoders have faults: a hostile file can end, block or take over this
// process alone.
import { constants, setPriority } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

// Messages go first where processors are scarce. The lowest priority would give a busy machine no rendition.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL);

const MAX_PIXELS = 50_000_000;
const LONGEST_SIDE = 640;
const QUALITY = 78;
/** Kilobits a second of MP3, enough for a voice. */
const BIT_RATE = 64;
/** Longest voice message that is decoded, in samples of a channel: one hour. */
const MAX_SAMPLES = 3600 * 48_000;
/** Samples of a channel that the encoder takes at once. */
const STEP = 48_000;

const PROGRAMS: Record<string, (input: Readable, output: Writable) => Promise<void>> = {
  thumbnail: makeThumbnail,
  voice: makeVoice,
};

async function makeThumbnail(input: Readable, output: Writable): Promise<void> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({
    operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((format) => `VipsForeignLoad${format}`),
  });
  const thumbnail = sharp({ limitInputPixels: MAX_PIXELS, failOn: 'error' })
    // Turns the picture as its metadata say, which the output does not have.
    .autoOrient()
    .resize({ width: LONGEST_SIDE, height: LONGEST_SIDE, fit: 'inside', withoutEnlargement: true })
    .webp({ quality: QUALITY });
  await pipeline(input, thumbnail, output);
}

async function makeVoice(input: Readable, output: Writable): Promise<void> {
  const [{ OggOpusDecoder }, { createMp3Encoder }] = await Promise.all([
    import('ogg-opus-decoder'),
    import('wasm-media-encoders'),
  ]);
  const decoder = new OggOpusDecoder();
  await decoder.ready;
  const encoder = await createMp3Encoder();
  await pipeline(
    input,
    async function* (chunks: AsyncIterable<Buffer>) {
      let samples = 0;
      const encode = function* ({ channelData, samplesDecoded, sampleRate }: Decoded) {
        if (samplesDecoded === 0) return;
        if (samples === 0)
          encoder.configure({
            sampleRate,
            channels: channelData.length as 1 | 2,
            bitrate: BIT_RATE,
          });
        samples += samplesDecoded;
        if (samples > MAX_SAMPLES) throw new Error('the voice message is longer than an hour');
        for (let at = 0; at < samplesDecoded; at += STEP)
          // The encoder writes its next result over the memory of this one.
          yield Buffer.from(
            encoder.encode(channelData.map((channel) => channel.subarray(at, at + STEP)) as [Float32Array]),
          );
      };
      for await (const chunk of chunks) yield* encode(await Promise.resolve(decoder.decode(chunk)));
      yield* encode(await decoder.flush());
      if (samples === 0) throw new Error('the file has no sound');
      yield Buffer.from(encoder.finalize());
    },
    output,
  );
}

interface Decoded {
  channelData: Float32Array[];
  samplesDecoded: number;
  sampleRate: number;
}

PROGRAMS[process.argv[2]!]!(process.stdin, process.stdout).catch((error: Error) => {
  process.stderr.write(error.message);
  process.exitCode = 1;
});
