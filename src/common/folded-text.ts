/** Pattern of a text of which `foldText` changes only the case. */
const PLAIN_TEXT = /^[\w@.+-]*$/;
/** Pattern of a text in Latin letters: `foldText` changes only its case, its marks and some letters. */
const LATIN_TEXT = /^[\w@.+\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0148\u014a-\u017f-]*$/;
/** Characters that cannot be seen: joiners, direction marks, soft hyphens, variation selectors, fillers. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu;
const BLANKS = /[\s\p{Z}\p{Cc}]+/gu;
/** Accents without a letter, which Unicode decomposes to a blank and a mark. */
const LONE_ACCENTS = /[\u00b4\u1fbd\u1fbf\u1ffd\u1ffe]/gu;
const APOSTROPHES = /[\u0060\u05f3\u02b9-\u02bd\u02c8\u2018-\u201b\u2032\u2035]/gu;
const QUOTES = /[\u00ab\u00bb\u05f4\u201c-\u201f\u300c-\u300f]/gu;
const HYPHENS = /[\p{Pd}\u2212]/gu;
const DIGIT = /\p{Nd}/u;
const OTHER_DIGITS = /(?![0-9])\p{Nd}/gu;

/** Marks of Latin, Greek, Cyrillic, Hebrew and Arabic texts that people often leave out. */
const OPTIONAL_MARKS =
  /[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0]/gu;

/**
 * Letters that Unicode does not decompose, mapped to the letters that its collation treats as equal. `ı` and
 * `þ` are mapped to `i` and `th`, because people without a key for them write so.
 */
export const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  þ: 'th',
  ı: 'i',
};
/**
 * Arabic letters, mapped to the letters that people write for them. They look alike, and keyboards for
 * Persian, Urdu and Pashto have another kaf, heh and yeh than Arabic keyboards.
 */
const ARABIC_LETTERS: Readonly<Record<string, string>> = {
  ک: 'ك',
  ة: 'ه',
  ہ: 'ه',
  ھ: 'ه',
  ۃ: 'ه',
  ە: 'ه',
  ى: 'ي',
  ی: 'ي',
  ې: 'ي',
  ۍ: 'ي',
  ے: 'ي',
};
const PLAIN_FORMS = { ...PLAIN_LETTERS, ...ARABIC_LETTERS };
const PLAIN = new RegExp(`[${Object.keys(PLAIN_FORMS).join('')}]`, 'gu');
const KATAKANA = /[\u30a1-\u30f6]/gu;
const TO_HIRAGANA = 0x3041 - 0x30a1;

/**
 * Returns the form of a text by which texts are compared. It removes case, width, invisible characters, and
 * marks that people often leave out. It replaces digits, hyphens and quotes by ASCII's, and several blanks by
 * one. `Straße` equals `STRASSE`, `Đỗ` equals `do`, `İrem` equals `irem`, `٣` equals `3`, `タロウ` equals `たろう`,
 * and `کریم` equals `كريم`.
 */
export function foldText(text: string): string {
  if (PLAIN_TEXT.test(text)) return text.toLowerCase();
  const plain = LATIN_TEXT.test(text) ? withoutMarks(text) : replaceSigns(text);
  // Upper case maps `ẞ` and `ß` to `SS`, and `ſ` to `S`. `toLowerCase` writes `ς` at the end of a word.
  const uncased = plain.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
  return uncased
    .replace(PLAIN, (letter) => PLAIN_FORMS[letter]!)
    .replace(KATAKANA, (letter) => String.fromCodePoint(letter.codePointAt(0)! + TO_HIRAGANA))
    .normalize('NFC');
}

function replaceSigns(text: string): string {
  return withoutMarks(text.replace(INVISIBLE, '').replace(LONE_ACCENTS, "'"))
    .replace(APOSTROPHES, "'")
    .replace(QUOTES, '"')
    .replace(HYPHENS, '-')
    .replace(OTHER_DIGITS, toAsciiDigit)
    .replace(BLANKS, ' ');
}

function withoutMarks(text: string): string {
  return text.normalize('NFKD').replace(OPTIONAL_MARKS, '');
}

/** Returns the ASCII form of a digit. Each script has ten digits in a row of code points, from 0 to 9. */
function toAsciiDigit(digit: string): string {
  const codePoint = digit.codePointAt(0)!;
  let inRow = 0;
  while (DIGIT.test(String.fromCodePoint(codePoint - inRow - 1))) inRow++;
  return String(inRow % 10);
}
