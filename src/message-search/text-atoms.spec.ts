import fc from 'fast-check';
import { foldText } from '../common/folded-text';
import { splitText, termsOf } from './text-atoms';

const UNSPACED = [
  'Han',
  'Hiragana',
  'Katakana',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Tibetan',
  'Javanese',
  'Balinese',
]
  .map((script) => `\\p{scx=${script}}`)
  .join('');
const IN_WORD = '(?![\\u02b9-\\u02bd\\u02c8])';
/** Pattern by which texts must be split. */
const ATOM = new RegExp(
  `${IN_WORD}(?=\\p{L})[${UNSPACED}][\\p{M}\\uff9e\\uff9f]*|\\p{Extended_Pictographic}|` +
    `(?:(?!(?=\\p{L})[${UNSPACED}])${IN_WORD}[\\p{L}\\p{N}][\\p{M}\\p{Cf}]*)+`,
  'gu',
);

/** First code points of blocks of letters, marks, signs and pictographs, also of halves of characters. */
const BLOCKS = [
  0x20, 0x60, 0xa0, 0x100, 0x180, 0x280, 0x2b0, 0x300, 0x370, 0x400, 0x590, 0x600, 0x640, 0x900, 0xe00, 0xe40,
  0xf00, 0x1000, 0x1100, 0x1780, 0x1b00, 0x1e00, 0x2000, 0x2100, 0x2460, 0x2600, 0x3000, 0x3040, 0x30a0,
  0x4e00, 0xa980, 0xac00, 0xd800, 0xdc00, 0xfb50, 0xfe00, 0xff00, 0xff60, 0x10000, 0x1d400, 0x1f300, 0x1f400,
  0x20000, 0xe0000, 0xe0100,
];
const texts = fc
  .array(
    fc
      .tuple(fc.constantFrom(...BLOCKS), fc.nat(0x5f))
      .map(([block, offset]) => String.fromCodePoint(block + offset)),
    { maxLength: 12 },
  )
  .map((points) => points.join(''));

const foldedOf = (text: string) => splitText(text).map(({ folded }) => folded);
const termsIn = (text: string) => [...termsOf(splitText(text))];

describe('the atoms of a text', () => {
  it.each([
    ['words between signs', 'Wo ist (mein) Paket?', ['wo', 'ist', 'mein', 'paket']],
    ['German', 'GROẞE Straße, Größe ÄRGER', ['grosse', 'strasse', 'grosse', 'arger']],
    ['accents, composed or not', 'Café cafe\u0301 Søren Ñandú', ['cafe', 'cafe', 'soren', 'nandu']],
    ['Greek, with its last sigma', 'ΟΔΟΣ οδός', ['οδοσ', 'οδοσ']],
    ['Turkish', 'İstanbul ISPARTA ılık', ['istanbul', 'isparta', 'ilik']],
    ['Russian', 'Ёлка ещё', ['елка', 'еще']],
    [
      'Arabic, with vowels, tatweel and forms of presentation',
      'مَرحَبًا مرحبا مـرحبا ﻣﺮﺣﺒﺎ',
      ['مرحبا', 'مرحبا', 'مرحبا', 'مرحبا'],
    ],
    ['Hebrew, with points', 'שָׁלוֹם שלום', ['שלום', 'שלום']],
    ['Hindi', 'नमस्ते दुनिया', ['नमस्ते', 'दुनिया']],
    ['Korean', '안녕하세요 고객님', ['안녕하세요', '고객님']],
    ['Chinese', '我的包裹', ['我', '的', '包', '裹']],
    [
      'Japanese with narrow letters and voiced marks',
      'ﾊﾟｿｺﾝを買う',
      ['ぱ', 'そ', 'こ', 'ん', 'を', '買', 'う'],
    ],
    ['Thai, with its marks', 'สวัสดี', ['ส', 'วั', 'ส', 'ดี']],
    ['scripts beside each other', 'iPhone15を2台', ['iphone15', 'を', '2', '台']],
    ['wide letters and digits', 'ＡＢＣ１２', ['abc12']],
    ['what cannot be seen', 'Pa\u00adket pa\u200bket \u202apaket\u202c', ['paket', 'paket', 'paket']],
    ['apostrophes, also those that are letters', 'OʼBrien O’Brien', ['o', 'brien', 'o', 'brien']],
    ['digits of another script', '١٢٣ 123', ['123', '123']],
    ['pictographs', 'Danke 👍🏽👍 ❤️', ['danke', '👍', '👍', '❤']],
    ['numbers and addresses', '+49 170-12 ana@shop.example', ['49', '170', '12', 'ana', 'shop', 'example']],
    ['nothing to find', ' \n…!?—\u200f\u202e', []],
    ['half a character', 'a\ud83d b', ['a', 'b']],
  ])('%s', (_, text, atoms) => expect(foldedOf(text)).toEqual(atoms));

  it('are the matches of a pattern, in all scripts', () => {
    const matches = (text: string) =>
      [...text.matchAll(ATOM)]
        .map(({ 0: part, index }) => ({ folded: foldText(part), start: index, end: index + part.length }))
        .filter(({ folded }) => folded !== '');
    const places = (text: string) =>
      splitText(text).map(({ folded, start, end }) => ({ folded, start, end }));
    fc.assert(
      fc.property(texts, (text) => expect(places(text)).toEqual(matches(text))),
      { numRuns: 3_000 },
    );
  });

  it('stand where they were found', () => {
    const text = 'Ich mag 東京 sehr 👍';
    expect(splitText(text).map(({ start, end }) => text.slice(start, end))).toEqual([
      'Ich',
      'mag',
      '東',
      '京',
      'sehr',
      '👍',
    ]);
  });

  it('are words, characters and pairs of characters as terms', () => {
    expect(termsIn('東京都 und 東京')).toEqual(['東', '東京', '京', '京都', '都', 'und']);
  });

  it('make no pair over a sign', () => {
    expect(termsIn('東、京 大')).toEqual(['東', '京', '大']);
  });

  it.each([
    ['words', 'word '.repeat(2_000), 1],
    ['a word', 'x'.repeat(10_000), 1],
    ['different words', Array.from({ length: 1_700 }, (_, n) => `w${n}`).join(' '), 1_700],
    ['Chinese', '包裹'.repeat(5_000), 4],
    ['marks', 'a' + '\u0301'.repeat(10_000), 1],
    ['signs', '-'.repeat(10_000), 0],
    ['blanks before a letter', `${' '.repeat(10_000)}x`, 1],
  ])('of 10,000 characters of %s are found in milliseconds', (_, text, count) => {
    const start = performance.now();
    expect(termsIn(text)).toHaveLength(count);
    expect(performance.now() - start).toBeLessThan(200);
  });
});
