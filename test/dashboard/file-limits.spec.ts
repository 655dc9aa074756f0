import { FILE_LIMITS, formOnChannel } from '../../src/common/file-limits';
import {
  maxBytesOf,
  refusalBySize,
  refusalOf,
} from '../../dashboard/web/src/pages/inbox/files/channel-refusal';

const MEBIBYTE = 1024 * 1024;
const HEIC = { kind: 'FILE', contentType: 'image/heic', size: 2 * MEBIBYTE } as const;
const JPEG = { kind: 'IMAGE', contentType: 'image/jpeg', size: 6 * MEBIBYTE } as const;
const VOICE = { kind: 'AUDIO', contentType: 'audio/ogg', size: 30 * MEBIBYTE } as const;
const PDF = { kind: 'FILE', contentType: 'application/pdf', size: 40 * MEBIBYTE } as const;

describe('a file for a channel', () => {
  it.each(['WIDGET', 'WHATSAPP', 'TELEGRAM', 'MESSENGER', 'INSTAGRAM'] as const)(
    'is refused on %s as by the server',
    (channel) => {
      for (const file of [HEIC, JPEG, VOICE, PDF]) {
        const server = formOnChannel(channel, file);
        const refusal = refusalOf(FILE_LIMITS[channel], file);
        expect([file, refusal?.why]).toEqual([file, 'refusal' in server ? server.refusal : undefined]);
      }
    },
  );

  it('is refused by its size before it is uploaded', () => {
    const limits = FILE_LIMITS.TELEGRAM;
    expect(maxBytesOf(limits)).toBe(50 * MEBIBYTE);
    expect(refusalBySize(limits, 0)).toEqual({ why: 'empty' });
    expect(refusalBySize(limits, 50 * MEBIBYTE)).toBeUndefined();
    expect(refusalBySize(limits, 50 * MEBIBYTE + 1)).toEqual({ why: 'too_large', maxBytes: 50 * MEBIBYTE });
  });
});
