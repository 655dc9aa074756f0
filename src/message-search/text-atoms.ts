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

/** Pattern of scripts without blanks between words. */
const UNSPACED =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmer}\p{scx=Myanmar}\p{scx=Tibetan}\p{scx=Javanese}\p{scx=Balinese}]/u;
/** Pattern of apostrophes that Unicode counts as letters. */
const APOSTROPHE = /[\u02b9-\u02bd\u02c8]/u;
const VOICED_MARKS = /[\uff9e\uff9f]/u;

// Bits of a code point's kind, by which a text is split.

/** A letter or digit of a script with blanks between words. */
const IN_WORD = 1;
/** A letter of a script without blanks. */
const CHARACTER = 2;
const PICTURE = 4;
/** A mark, or a character that cannot be seen: it does not end a word. */
const AFTER_WORD = 8;
/** A mark that belongs to the letter before it, in a script without blanks. */
const AFTER_CHARACTER = 16;
const KNOWN = 32;

/**
 * Kinds by code point; 0 is a kind that was not needed yet. One pattern for whole texts would take longer: V8
 * drops the code of a pattern at collections, and compiled that one again for 70 to 140 ms each time.
 */
const KINDS = new Uint8Array(0x110000);

/** Splits a text into atoms by Unicode's rules. Leaves out the signs between them, such as punctuation. */
export function splitText(text: string): Atom[] {
  const atoms: Atom[] = [];
  let end: number;
  for (let start = 0; start < text.length; start = end) {
    const kind = kindAt(text, start);
    end = start + lengthAt(text, start);
    if (kind & CHARACTER) end = endOfRun(text, end, AFTER_CHARACTER);
    else if (kind & IN_WORD && !(kind & PICTURE)) end = endOfRun(text, end, IN_WORD | AFTER_WORD);
    else if (!(kind & PICTURE)) continue;
    const folded = foldText(text.slice(start, end));
    if (folded !== '') atoms.push({ folded, isCharacter: (kind & (CHARACTER | PICTURE)) !== 0, start, end });
  }
  return atoms;
}

/** Returns the position after all code points of the given kinds from a position on. */
function endOfRun(text: string, from: number, kinds: number): number {
  let end = from;
  while (end < text.length && kindAt(text, end) & kinds) end += lengthAt(text, end);
  return end;
}

function lengthAt(text: string, position: number): number {
  return text.codePointAt(position)! > 0xffff ? 2 : 1;
}

function kindAt(text: string, position: number): number {
  const codePoint = text.codePointAt(position)!;
  return (KINDS[codePoint] ||= kindOf(String.fromCodePoint(codePoint)));
}

function kindOf(point: string): number {
  const isMark = /\p{M}/u.test(point);
  const isLetter = /\p{L}/u.test(point);
  const isUnspaced = isLetter && UNSPACED.test(point);
  const isPart = (isLetter || /\p{N}/u.test(point)) && !APOSTROPHE.test(point);
  return (
    KNOWN |
    (isPart && !isUnspaced ? IN_WORD : 0) |
    (isPart && isUnspaced ? CHARACTER : 0) |
    (/\p{Extended_Pictographic}/u.test(point) ? PICTURE : 0) |
    (isMark || /\p{Cf}/u.test(point) ? AFTER_WORD : 0) |
    (isMark || VOICED_MARKS.test(point) ? AFTER_CHARACTER : 0)
  );
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
