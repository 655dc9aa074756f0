import { countCharacters } from '../common/validators';

const MAX_CHARACTERS = 140;
/** Text of more than 140 printable ASCII characters, each of which is one grapheme. */
const LONG_ASCII = new RegExp(`^[ -~]{${MAX_CHARACTERS + 1}}`);
/** Pattern of blanks that are not written as one space. */
const OTHER_BLANKS = /\s{2,}|[^\S ]/g;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Returns the first 140 characters of a message on one line. Never cuts inside a grapheme. */
export function makePreview(body: string): string {
  const line = body.trim().replace(OTHER_BLANKS, ' ');
  if (line.length <= MAX_CHARACTERS) return line;
  if (LONG_ASCII.test(line)) return line.slice(0, MAX_CHARACTERS);
  let preview = '';
  let count = 0;
  for (const { segment } of graphemes.segment(line)) {
    count += countCharacters(segment);
    if (count > MAX_CHARACTERS) break;
    preview += segment;
  }
  return preview;
}
