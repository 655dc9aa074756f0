const MAX_LENGTH = 140;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The first 140 characters of a message on one line, never cut inside what a reader sees as one character. */
export function previewOf(body: string): string {
  const line = body.trim().replace(/\s+/g, ' ');
  if (line.length <= MAX_LENGTH) return line;
  let preview = '';
  for (const { segment } of graphemes.segment(line)) {
    if (preview.length + segment.length > MAX_LENGTH) break;
    preview += segment;
  }
  return preview;
}
