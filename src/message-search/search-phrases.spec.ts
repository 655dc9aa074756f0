import { findPhrases, makeExcerpt, parsePhrases, termsOfPhrases } from './search-phrases';
import { splitText, termsOf } from './text-atoms';

const foldedOf = (text: string) => parsePhrases(text).map((phrase) => phrase.map(({ folded }) => folded));
const hitsIn = (text: string, search: string) => findPhrases(splitText(text), parsePhrases(search));

function mark(text: string, search: string): string {
  return makeExcerpt(text, hitsIn(text, search)!)
    .map((part) => (part.isHit ? `[${part.text}]` : part.text))
    .join('');
}

describe('a search', () => {
  it.each([
    ['blue parcel', [['blue'], ['parcel']]],
    ['"blue parcel" late', [['blue', 'parcel'], ['late']]],
    ['„blaues Paket“', [['blaues', 'paket']]],
    ['«colis bleu', [['colis', 'bleu']]],
    [
      "don't order-12",
      [
        ['don', 't'],
        ['order', '12'],
      ],
    ],
    ['東京 bar', [['東', '京'], ['bar']]],
    ['"" ! - "', []],
  ])('%s is read as phrases', (text, phrases) => expect(foldedOf(text)).toEqual(phrases));

  it('looks for pairs of characters, and for one that stands alone', () => {
    expect([...termsOfPhrases(parsePhrases('東京都 猫 und'))]).toEqual(['東京', '京都', '猫', 'und']);
  });

  it.each([
    ['My blue parcel', 'PARCEL blue', true],
    ['My blue parcel', '"parcel blue"', false],
    ['My blue, parcel', '"blue parcel"', true],
    ['blue blue parcel', '"blue parcel"', true],
    ['parcels', 'parcel', false],
    ['我的包裹在哪里', '包裹', true],
    ['包子裹', '包裹', false],
    ['สวัสดีครับ', 'ครับ', true],
    ['Größe', 'grosse', true],
  ])('%s has %s: %s', (text, search, isFound) => {
    expect(hitsIn(text, search) !== null).toBe(isFound);
    const terms = termsOf(splitText(text));
    // The index may find more than the text has, and never less.
    if (isFound)
      expect([...termsOfPhrases(parsePhrases(search))].filter((term) => !terms.has(term))).toEqual([]);
  });
});

describe('an excerpt', () => {
  it('marks what was found', () => {
    expect(mark('My blue parcel is blue.', 'blue')).toBe('My [blue] parcel is [blue].');
    expect(mark('我的包裹', '包裹')).toBe('我的[包][裹]');
  });

  it('is what stands around the first hit, on one line', () => {
    const text = `${'before '.repeat(50)}\n\nneedle\n${'after '.repeat(50)}`;
    const excerpt = mark(text, 'needle');
    expect(excerpt).toMatch(/^….*before \[needle\] after.*…$/);
    expect(excerpt.length).toBeLessThan(170);
  });

  it('cuts no character and no hit in two ways', () => {
    expect(mark(`${'😀'.repeat(60)} x ${'😀'.repeat(200)}`, 'x')).not.toMatch(
      /(?<![\ud800-\udbff])[\udc00-\udfff]|[\ud800-\udbff](?![\udc00-\udfff])/,
    );
    expect(mark(`needle${'x'.repeat(500)}`, `needle${'x'.repeat(500)}`)).toBe(`[needle${'x'.repeat(154)}]…`);
  });

  it('keeps markup and its signs as they are', () => {
    expect(mark('<b>blue</b> & "x"', 'blue')).toBe('<b>[blue]</b> & "x"');
  });
});
