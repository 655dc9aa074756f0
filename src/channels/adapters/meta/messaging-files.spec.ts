import { describeMessage } from './messaging-content';
import { readMessagingFiles, withoutAddresses } from './messaging-files';

const url = 'https://lookaside.fbsbx.com/ig_messaging_cdn/?asset_id=9&signature=signed';
const page = 'https://www.instagram.com/p/abc/';
const claimed = { name: null, contentType: null, size: null };

describe('the files of a message at Messenger or Instagram', () => {
  it.each([
    ['image', 'IMAGE'],
    ['sticker', 'IMAGE'],
    ['audio', 'AUDIO'],
    ['video', 'VIDEO'],
    ['file', 'FILE'],
    ['story_mention', 'IMAGE'],
    ['ephemeral', 'IMAGE'],
    ['reel', 'VIDEO'],
    ['ig_reel', 'VIDEO'],
    ['share', 'IMAGE'],
    ['post', 'IMAGE'],
    ['ig_post', 'IMAGE'],
  ])('have an attachment of type %s', (type, kind) => {
    const message = { mid: 'm', attachments: [{ type, payload: { url, title: 'Autumn' } }] };
    expect(readMessagingFiles(message)).toEqual({
      files: [{ ...claimed, kind, reference: { url } }],
      caption: null,
    });
    expect(JSON.stringify(withoutAddresses(message))).not.toContain('signed');
    expect(describeMessage(message)).not.toContain('signed');
  });

  it.each([
    ['fallback', { url: page }],
    ['template', {}],
    ['location', { coordinates: { lat: 1, long: 2 } }],
    ['ig_post', { url: page }],
    ['share', { url: page }],
    ['ig_reel', { url: page }],
    ['ig_reel', {}],
    ['constructor', { url }],
  ])('have none of type %s that leads to no file', (type, payload) => {
    expect(readMessagingFiles({ attachments: [{ type, payload }] })).toBeNull();
  });

  it('are missing if Meta hands out no address', () => {
    expect(readMessagingFiles({ attachments: [{ type: 'ephemeral' }] })!.files).toEqual([
      { ...claimed, kind: 'IMAGE', reference: null },
    ]);
  });

  it('have a sticker once that Messenger sent twice', () => {
    const payload = { url, sticker_id: 369239263222822 };
    const attachments = [
      { type: 'image', payload },
      { type: 'sticker', payload },
    ];
    expect(readMessagingFiles({ attachments })!.files).toHaveLength(1);
    expect(describeMessage({ attachments })).toBe('[sticker]');
    const alone = [{ type: 'image', payload }];
    expect(readMessagingFiles({ attachments: alone })!.files).toHaveLength(1);
  });

  it('keep addresses of pages, and not those of stories', () => {
    const message = {
      mid: 'm',
      reply_to: { story: { id: '1', url } },
      attachments: [{ type: 'share', payload: { url: page } }],
    };
    expect(withoutAddresses(message)).toEqual({
      mid: 'm',
      reply_to: { story: { id: '1' } },
      attachments: [{ type: 'share', payload: { url: page } }],
    });
  });
});
