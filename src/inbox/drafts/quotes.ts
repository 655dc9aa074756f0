/** Fewest characters of a text that is looked for: a shorter one, such as `ok`, is anybody's. */
const MIN_CHARACTERS = 6;
const LETTER = String.raw`[\p{L}\p{N}]`;

/**
 * Returns a draft without the texts of a message that was taken back, where they stand as whole words. A text
 * of few characters is taken out only if it has a digit.
 */
export function withoutQuotes(draft: string, texts: string[]): string {
  return texts
    .map((text) => text.trim())
    .filter((text) => text.length >= MIN_CHARACTERS || /\p{N}/u.test(text))
    .filter((text) => /[^\s>]/.test(text))
    .reduce((left, text) => left.replaceAll(wholeWords(text), ''), draft);
}

function escape(word: string): string {
  return word.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function wholeWords(text: string): RegExp {
  // A line may have been wrapped, or begin with the mark of a quote. No word has that mark: a match would be
  // tried in all the ways in which marks can belong to words or stand between them.
  const words = text
    .split(/[\s>]+/)
    .filter(Boolean)
    .map(escape);
  return new RegExp(`(?<!${LETTER})${words.join('[\\s>]+')}(?!${LETTER})`, 'gu');
}
