import { splitText, termsOf } from './text-atoms';

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
