import { countCharacters } from '../common/validators';

const MAX_CHARACTERS = 140;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * Returns the first 140 characters of a message on one line, never cut inside what a reader sees as one
 * character.
 */
export function makePreview(body: string): string {
  const line = body.trim().replace(/\s+/g, ' ');
  if (line.length <= MAX_CHARACTERS) return line;
  let preview = '';
  let count = 0;
  for (const { segment } of graphemes.segment(line)) {
    count += countCharacters(segment);
    if (count > MAX_CHARACTERS) break;
    preview += segment;
  }
  return preview;
}
