import { readTelegramFile } from './received-files';

const claimed = { name: null, contentType: null, size: null };
const file = { file_id: 'a', file_unique_id: 'u' };
const id = { reference: { id: 'a' } };

describe('the file of a Telegram message', () => {
  it.each([
    [
      'the largest size of a photo',
      {
        photo: [
          { file_id: 'b', width: 90, height: 60 },
          { ...file, width: 1280, height: 853, file_size: 9 },
        ],
      },
      { ...claimed, ...id, kind: 'IMAGE', size: 9 },
    ],
    [
      'a document',
      { document: { ...file, file_name: 'factura.pdf', mime_type: 'application/pdf', file_size: 48211 } },
      { ...id, kind: 'FILE', name: 'factura.pdf', contentType: 'application/pdf', size: 48211 },
    ],
    [
      'an audio',
      { audio: { ...file, title: 'Song', mime_type: 'audio/mpeg', duration: 3 } },
      { ...claimed, reference: { id: 'a', durationMs: 3000 }, kind: 'AUDIO', contentType: 'audio/mpeg' },
    ],
    [
      'a voice message',
      { voice: { ...file, mime_type: 'audio/ogg' } },
      { ...claimed, ...id, kind: 'AUDIO', contentType: 'audio/ogg' },
    ],
    ['a video', { video: file }, { ...claimed, ...id, kind: 'VIDEO' }],
    ['a round video', { video_note: { ...file, length: 240 } }, { ...claimed, ...id, kind: 'VIDEO' }],
    [
      'an animation, once',
      { animation: file, document: { ...file, file_id: 'doubled' } },
      { ...claimed, ...id, kind: 'VIDEO' },
    ],
    [
      'a live photo, once',
      { live_photo: file, photo: [{ file_id: 'doubled', width: 9, height: 9 }] },
      { ...claimed, ...id, kind: 'VIDEO' },
    ],
    ['a sticker in WebP', { sticker: { ...file, emoji: '👍' } }, { ...claimed, ...id, kind: 'IMAGE' }],
    ['an animated sticker', { sticker: { ...file, is_animated: true } }, { ...claimed, ...id, kind: 'FILE' }],
    ['a sticker in WebM', { sticker: { ...file, is_video: true } }, { ...claimed, ...id, kind: 'FILE' }],
  ])('is %s', (_, message, expected) => {
    expect(readTelegramFile(message)).toEqual({ files: [expected], caption: null });
  });

  it('has no duration that is none', () => {
    for (const duration of [-1, 1e12, 'long', null])
      expect(readTelegramFile({ video: { ...file, duration } })?.files[0]?.reference).toEqual({ id: 'a' });
  });

  it('has the caption that the customer wrote', () => {
    expect(readTelegramFile({ photo: [{ ...file, width: 1, height: 1 }], caption: 'Look' })).toMatchObject({
      caption: 'Look',
    });
  });

  it.each([
    ['a text', { text: 'Hello' }],
    ['a place', { location: { latitude: 1, longitude: 2 }, venue: { title: 'Shop' } }],
    ['a contact', { contact: { first_name: 'Ana' } }],
    ['a story', { story: { id: 1 } }],
    ['a photo without sizes', { photo: [] }],
    ['a document without an id', { document: { file_name: 'a.pdf' } }],
  ])('is not there in %s', (_, message) => {
    expect(readTelegramFile(message)).toBeNull();
  });
});
