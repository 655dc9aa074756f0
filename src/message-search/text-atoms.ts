import { foldText } from '../common/folded-text';

/** Smallest part of a text that can be found: a word, or one character of a script without blanks. */
export interface Atom {
  /** The part in the form in which parts are compared: without case, accents and width. */
  folded: string;
  /** Whether it is a character of a script that writes words without blanks between them. */
  isCharacter: boolean;
  /** Position of its first UTF-16 unit in the text, and of the unit after its last one. */
  start: number;
  end: number;
}

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

/** Lookahead that refuses apostrophes, because Unicode counts some of them as letters. */
const IN_WORD = '(?![\\u02b9-\\u02bd\\u02c8])';

/**
 * A character of a script without blanks with its marks, a pictograph, or a run of other letters and digits.
 * The lookahead keeps marks and digits, which belong to several scripts, in words. Characters
 * that cannot be seen do not end a word.
 */
const ATOM = new RegExp(
  `(?<character>${IN_WORD}(?=\\p{L})[${UNSPACED}][\\p{M}\\uff9e\\uff9f]*)|(?<picture>\\p{Extended_Pictographic})|` +
    `(?:(?!(?=\\p{L})[${UNSPACED}])${IN_WORD}[\\p{L}\\p{N}][\\p{M}\\p{Cf}]*)+`,
  'gu',
);

/**
 * Splits a text into its atoms by Unicode's rules. Signs between them, such as punctuation, are left out.
 */
export function splitText(text: string): Atom[] {
  const atoms: Atom[] = [];
  for (const match of text.matchAll(ATOM)) {
    const { character, picture } = match.groups!;
    const folded = foldText(match[0]);
    if (folded === '') continue;
    atoms.push({
      folded,
      isCharacter: (character ?? picture) !== undefined,
      start: match.index,
      end: match.index + match[0].length,
    });
  }
  return atoms;
}

/**
 * Returns the terms by which an index finds a text. They are its words, and the characters of scripts without
 * blanks, alone and with the next one.
 */
export function termsOf(atoms: readonly Atom[]): Set<string> {
  const terms = new Set<string>();
  atoms.forEach((atom, index) => {
    terms.add(atom.folded);
    const next = atoms[index + 1];
    if (next && isPair(atom, next)) terms.add(pairOf(atom, next));
  });
  return terms;
}

/** Reports whether two atoms are characters that follow each other without a sign between them. */
export function isPair(atom: Atom, next: Atom): boolean {
  return atom.isCharacter && next.isCharacter && atom.end === next.start;
}

export function pairOf(atom: Atom, next: Atom): string {
  return atom.folded + next.folded;
}
