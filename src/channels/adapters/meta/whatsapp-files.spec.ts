import { readWhatsAppFile, withoutFileAddress } from './whatsapp-files';

const claimed = { name: null, contentType: null, size: null };
const id = '8801112223334';
const reference = { id };
const url = 'https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1&hash=signed';

describe('the file of a WhatsApp message', () => {
  it.each([
    [
      'image',
      { id, mime_type: 'image/jpeg', caption: 'Broken', url },
      { kind: 'IMAGE', contentType: 'image/jpeg' },
      'Broken',
    ],
    [
      'sticker',
      { id, mime_type: 'image/webp', animated: true },
      { kind: 'IMAGE', contentType: 'image/webp' },
      null,
    ],
    [
      'video',
      { id, mime_type: 'video/mp4', caption: 'See' },
      { kind: 'VIDEO', contentType: 'video/mp4' },
      'See',
    ],
    [
      'audio',
      { id, mime_type: 'audio/ogg; codecs=opus', voice: true },
      { kind: 'AUDIO', contentType: 'audio/ogg; codecs=opus' },
      null,
    ],
    ['document', { id, filename: 'a.pdf' }, { kind: 'FILE', name: 'a.pdf' }, null],
  ])('of type %s has what the sender claims', (type, media, expected, caption) => {
    const message = { type, [type]: media };
    expect(readWhatsAppFile(message)).toEqual({ files: [{ ...claimed, reference, ...expected }], caption });
    expect(JSON.stringify(withoutFileAddress(message))).not.toContain('signed');
  });

  it('has the hash of the hook, which is in base64, in hex', () => {
    const image = { id, sha256: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=' };
    const sha256 = 'abcdef1234567890abcdef1234567890abcdef1234567890abcdef1234567890';
    expect(readWhatsAppFile({ type: 'image', image })!.files[0]!.reference).toEqual({ id, sha256 });
    const unreadable = { id, sha256: 'short' };
    expect(readWhatsAppFile({ type: 'image', image: unreadable })!.files[0]!.reference).toEqual({ id });
  });

  it('is too big if WhatsApp says so, and is missing without an id', () => {
    const errors = [{ code: 131052, title: 'Media download error' }];
    expect(readWhatsAppFile({ type: 'unsupported', errors })!.files).toEqual([
      { ...claimed, kind: 'FILE', reference: null, problem: 'TOO_BIG' },
    ]);
    expect(readWhatsAppFile({ type: 'image', image: {} })!.files).toEqual([
      { ...claimed, kind: 'IMAGE', reference: null },
    ]);
  });

  it.each([
    { type: 'text', text: { body: 'Hello' } },
    { type: 'location', location: { latitude: 1, longitude: 2 } },
    { type: 'contacts', contacts: [] },
    { type: 'unsupported', errors: [{ code: 131051 }] },
    {},
  ])('is not there in %j', (message) => {
    expect(readWhatsAppFile(message)).toBeNull();
  });

  it('leaves no address of a picture in an advertisement', () => {
    const referral = {
      headline: 'Sale',
      image_url: 'https://scontent.xx.fbcdn.net/v/1.jpg?oh=signed',
      ctwa_clid: 'c',
    };
    expect(withoutFileAddress({ type: 'text', referral })).toEqual({
      type: 'text',
      referral: { headline: 'Sale', ctwa_clid: 'c' },
    });
  });
});
