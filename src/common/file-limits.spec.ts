import { CHANNELS } from './channel-descriptors';
import { FILE_LIMITS, formOnChannel, isCaptionOn, MAX_FILE_BYTES } from './file-limits';

const MIB = 1024 * 1024;
const jpeg = (mebibytes: number) => ({
  kind: 'IMAGE' as const,
  contentType: 'image/jpeg',
  size: mebibytes * MIB,
});

describe('formOnChannel', () => {
  it('takes a picture as a picture on every channel', () => {
    for (const channel of CHANNELS) expect(formOnChannel(channel, jpeg(1))).toEqual({ form: 'image' });
  });

  it('takes what is too large for a picture as a document where the channel takes its type as one', () => {
    expect(formOnChannel('TELEGRAM', jpeg(11))).toEqual({ form: 'file' });
    expect(formOnChannel('MESSENGER', jpeg(9))).toEqual({ form: 'file' });
    expect(formOnChannel('WHATSAPP', jpeg(6))).toEqual({
      refusal: 'too_large',
      form: 'image',
      maxBytes: 5 * MIB,
    });
    expect(formOnChannel('INSTAGRAM', jpeg(9))).toEqual({
      refusal: 'too_large',
      form: 'image',
      maxBytes: 8 * MIB,
    });
  });

  it('takes types that are no pictures for the channel as documents, or refuses them', () => {
    const webp = { kind: 'IMAGE' as const, contentType: 'image/webp', size: 1000 };
    expect(formOnChannel('TELEGRAM', webp)).toEqual({ form: 'image' });
    expect(formOnChannel('MESSENGER', webp)).toEqual({ form: 'file' });
    expect(formOnChannel('WHATSAPP', webp)).toEqual({ refusal: 'type' });
    expect(formOnChannel('INSTAGRAM', webp)).toEqual({ refusal: 'type' });
    expect(formOnChannel('INSTAGRAM', { kind: 'FILE', contentType: 'application/zip', size: 1 })).toEqual({
      refusal: 'type',
    });
  });

  it('refuses programs on the widget, and a size one byte above a limit', () => {
    const program = { kind: 'FILE' as const, contentType: 'application/x-msdownload', size: 1000 };
    expect(formOnChannel('WIDGET', program)).toEqual({ refusal: 'type' });
    expect(formOnChannel('WIDGET', { ...jpeg(25) })).toEqual({ form: 'image' });
    expect(formOnChannel('WIDGET', { ...jpeg(25), size: 25 * MIB + 1 })).toEqual({
      refusal: 'too_large',
      form: 'file',
      maxBytes: 25 * MIB,
    });
  });

  it('has no limit above what the service stores', () => {
    const limits = Object.values(FILE_LIMITS).flatMap(({ forms }) => Object.values(forms));
    expect(Math.max(...limits.map((limit) => limit?.maxBytes ?? 0))).toBe(MAX_FILE_BYTES);
  });
});

describe('isCaptionOn', () => {
  it('knows where a text fits beside a file', () => {
    expect(isCaptionOn('WHATSAPP', 'image', 'x'.repeat(1024))).toBe(true);
    expect(isCaptionOn('WHATSAPP', 'image', 'x'.repeat(1025))).toBe(false);
    expect(isCaptionOn('WHATSAPP', 'audio', 'x')).toBe(false);
    expect(isCaptionOn('MESSENGER', 'image', 'x')).toBe(false);
  });
});
