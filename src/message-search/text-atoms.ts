import { foldText } from '../common/folded-text';

/** Smallest part of a text that can be found: word, pictograph, or character of a script without blanks. */
export interface Atom {
  /** The part as `foldText` returns it, so that texts are compared without case and accents. */
  folded: string;
  /** Whether the atom is a pictograph, or a character of a script without blanks between words (Chinese). */
  isCharacter: boolean;
  /** Position of the atom's first UTF-16 unit in the text. `end` is the position after its last unit. */
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
 * Pattern of one character of a script without blanks, with its marks; or of a pictograph; or of a run of
 * other letters and digits. The lookaheads for letters keep marks and digits that belong to several scripts
 * inside words. Characters that cannot be seen do not end a word.
 */
const ATOM = new RegExp(
  `(?<character>${IN_WORD}(?=\\p{L})[${UNSPACED}][\\p{M}\\uff9e\\uff9f]*)|(?<picture>\\p{Extended_Pictographic})|` +
    `(?:(?!(?=\\p{L})[${UNSPACED}])${IN_WORD}[\\p{L}\\p{N}][\\p{M}\\p{Cf}]*)+`,
  'gu',
);

/** Splits a text into atoms by Unicode's rules. Leaves out the signs between them, such as punctuation. */
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
 * Returns the terms under which the index finds a text: its words, and each character of a script without
 * blanks, alone and together with the next character.
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

/** Reports whether two atoms are characters that follow each other without a sign or blank between them. */
export function isPair(atom: Atom, next: Atom): boolean {
  return atom.isCharacter && next.isCharacter && atom.end === next.start;
}

export function pairOf(atom: Atom, next: Atom): string {
  return atom.folded + next.folded;
}
