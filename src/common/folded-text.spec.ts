import { foldText, PLAIN_LETTERS } from './folded-text';

describe('a folded text', () => {
  it.each([
    ['German', 'Straße STRASSE GROẞE', 'strasse strasse grosse'],
    ['Turkish', 'İrem IREM ışık', 'irem irem isik'],
    ['Greek, with its last sigma', 'ΟΔΟΣ οδός', 'οδοσ οδοσ'],
    ['accents, composed or not', 'José jose\u0301', 'jose jose'],
    ['letters with a stroke, and ligatures', 'Đỗ Łódź Ærø Þór', 'do lodz aero thor'],
    ['wide and narrow letters', 'Ｔａｒｏ ﾀﾛｳ', 'taro たろう'],
    ['apostrophes', 'O’Brien O‘Brien OʼBrien O´Brien O`Brien', "o'brien o'brien o'brien o'brien o'brien"],
    ['quotes and hyphens', '„A“ «b» c–d e‑f 1−2', '"a" "b" c-d e-f 1-2'],
    ['digits of other scripts', '٣٤٥ ۴ १२३ ४ 𝟛', '345 4 123 4 3'],
    ['what cannot be seen', '\u202a+44\u202c a\u00adb\u200bc\u2060\ufeff', '+44 abc'],
    ['blanks', 'a \u00a0\t\u3000 b', 'a b'],
    ['Arabic, with vowels', 'نَعَم', 'نعم'],
    ['Persian and Urdu keyboards (charabia#382)', 'علی کریم ہمایوں', 'علي كريم همايوں'],
    ['letters of Arabic that end words', 'فاطمة هدى', 'فاطمه هدي'],
    ['Hebrew signs', 'ג׳ורג׳ צה״ל', `ג'ורג' צה"ל`],
    ['katakana (Niagara-Issues#1623)', 'サクラ ガッツ ヴ さくら', 'さくら がっつ ゔ さくら'],
    ['Korean and Hindi', '한글 नमस्ते', '한글 नमस्ते'],
  ])('is without %s', (_, text, folded) => expect(foldText(text)).toBe(folded));

  it('stays as it is when it is folded again, whatever its characters', () => {
    const changed: string[] = [];
    for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
      if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
      const folded = foldText(String.fromCodePoint(codePoint));
      if (foldText(folded) !== folded) changed.push(codePoint.toString(16));
    }
    expect(changed).toEqual([]);
  });

  it('takes letters as Unicode’s collation does', () => {
    const { compare } = new Intl.Collator('und', { sensitivity: 'base' });
    for (const [letter, plain] of Object.entries(PLAIN_LETTERS)) {
      if ('ıþ'.includes(letter)) continue;
      expect({ letter, isEqual: compare(letter, plain) === 0 }).toEqual({ letter, isEqual: true });
    }
  });

  it('is the same for each Latin letter, in a text of Latin letters and beside another sign', () => {
    for (let point = 0; point < 0x250; point++) {
      const text = `Ab${String.fromCodePoint(point)}c`;
      expect([point, foldText(text)]).toEqual([point, foldText(`${text}\u00ad`)]);
    }
  });
});
