import { en } from '../../i18n/texts-en';
import { partsFrom, readContents } from './contents';

const read = (text: string) => readContents(text, en.inbox.content);

describe('what a customer sends instead of text', () => {
  it.each([
    ['[image]', [['image', '']]],
    ['[image] Our shop', [['image', 'Our shop']]],
    ['[voice message]', [['voice message', '']]],
    ['[image] One\nof two lines', [['image', 'One\nof two lines']]],
    [
      '[image] One\n[video]',
      [
        ['image', 'One'],
        ['video', ''],
      ],
    ],
    [
      '[image] [video] Two',
      [
        ['image', ''],
        ['video', 'Two'],
      ],
    ],
  ])('is read from %j', (text, contents) => {
    expect(read(text)).toEqual(contents.map(([kind, detail]) => ({ kind, detail })));
  });

  it.each([
    '',
    'Hello',
    'see [image]',
    '[image]Our shop',
    '[toString]',
    '[constructor]',
    '[picture] x',
    '[image] a\n[b]',
  ])('is not in the text %j', (text) => {
    expect(read(text)).toBeNull();
  });
});

describe('an excerpt without its beginning', () => {
  const excerpt = [
    { text: '[image] O', isHit: false },
    { text: 'ur', isHit: true },
    { text: ' shop', isHit: false },
  ];

  it.each([
    [0, ['[image] O', 'ur', ' shop']],
    [8, ['O', 'ur', ' shop']],
    [9, ['', 'ur', ' shop']],
    [10, ['', 'r', ' shop']],
    [99, ['', '', '']],
  ])('of %i characters keeps what is marked', (count, texts) => {
    const parts = partsFrom(excerpt, count);
    expect(parts.map(({ text }) => text)).toEqual(texts);
    expect(parts.map(({ isHit }) => isHit)).toEqual([false, true, false]);
  });
});
