import { ApiProperty } from '@nestjs/swagger';
import { Atom, isPair, pairOf, splitText, termsOf } from './text-atoms';

/** Atoms (words or single characters) that a text must have in direct succession. */
export type Phrase = readonly Atom[];

export class ExcerptPart {
  @ApiProperty({ example: 'parcel' })
  text: string;

  @ApiProperty({ example: true, description: 'Whether it is a part that was searched for.' })
  isHit: boolean;
}

/** Pattern of a text in quotation marks, or between blanks. */
const PARTS = /["“”„«»]([^"“”„«»]*)["“”„«»]?|[^\s"“”„«»]+/gu;
/** Largest number of UTF-16 units in an excerpt. */
const EXCERPT = 160;
const BEFORE_HIT = 50;

/**
 * Parses a search into words and into phrases in quotation marks. A message must have all of them. Text
 * without a blank that splits into several atoms, such as `order-12` or a Chinese word, is a phrase.
 */
export function parsePhrases(text: string): Phrase[] {
  return [...text.matchAll(PARTS)]
    .map(([whole, quoted]) => splitText(quoted ?? whole))
    .filter((phrase) => phrase.length > 0);
}

/** Returns the index terms that a text with all the phrases has. Adjacent characters are terms in pairs. */
export function termsOfPhrases(phrases: readonly Phrase[]): Set<string> {
  const terms = new Set<string>();
  for (const phrase of phrases)
    phrase.forEach((atom, index) => {
      const [before, next] = [phrase[index - 1], phrase[index + 1]];
      const isInPair = (before && isPair(before, atom)) || (next && isPair(atom, next));
      if (!isInPair) terms.add(atom.folded);
      if (next && isPair(atom, next)) terms.add(pairOf(atom, next));
    });
  return terms;
}

/**
 * Finds the phrases in a text.
 * @returns the atoms of every occurrence of each phrase; null if the text lacks one of the phrases
 */
export function findPhrases(atoms: readonly Atom[], phrases: readonly Phrase[]): Atom[] | null {
  const places = new Map<string, number[]>();
  atoms.forEach(({ folded }, index) => {
    const known = places.get(folded);
    if (known) known.push(index);
    else places.set(folded, [index]);
  });
  const found: Atom[] = [];
  for (const phrase of phrases) {
    const starts = (places.get(phrase[0]!.folded) ?? []).filter((start) =>
      phrase.every(({ folded }, n) => atoms[start + n]?.folded === folded),
    );
    if (starts.length === 0) return null;
    for (const start of starts) found.push(...atoms.slice(start, start + phrase.length));
  }
  return found;
}

/** Cuts a text to an excerpt around its first hit, on one line, and marks its hits. */
export function makeExcerpt(text: string, hits: readonly Atom[]): ExcerptPart[] {
  const sorted = [...hits].sort((a, b) => a.start - b.start);
  const start = boundaryBefore(text, Math.max(0, (sorted[0]?.start ?? 0) - BEFORE_HIT));
  const end = boundaryBefore(text, Math.min(text.length, start + EXCERPT));
  const parts: ExcerptPart[] = start > 0 ? [{ text: '…', isHit: false }] : [];
  const add = (from: number, to: number, isHit: boolean) => {
    if (to > from) parts.push({ text: text.slice(from, to).replace(/\s+/gu, ' '), isHit });
  };
  let at = start;
  for (const hit of sorted) {
    if (hit.end <= at || hit.start >= end) continue;
    add(at, hit.start, false);
    add(Math.max(at, hit.start), Math.min(end, hit.end), true);
    at = Math.min(end, hit.end);
  }
  add(at, end, false);
  if (end < text.length) parts.push({ text: '…', isHit: false });
  return parts;
}

/** Returns the position, or the one before it if the position is inside a surrogate pair. */
function boundaryBefore(text: string, position: number): number {
  const unit = text.charCodeAt(position);
  return unit >= 0xdc00 && unit <= 0xdfff ? position - 1 : position;
}

export function termsOfText(text: string): Set<string> {
  return termsOf(splitText(text));
}
