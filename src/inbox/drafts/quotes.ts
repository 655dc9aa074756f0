/** Minimum length of a quote to remove from a draft. A shorter text (`ok`) may be the agent's own words. */
const MIN_CHARACTERS = 6;
const LETTER = String.raw`[\p{L}\p{N}]`;

/**
 * Returns a draft without the texts of a message that the customer has taken back, wherever they stand as
 * whole words. A text of less than MIN_CHARACTERS is removed only if it contains a digit.
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
  // A quote may be wrapped, and its lines may begin with `>`. The text is split at `>` too, because the
  // pattern could match a `>` inside a word in two ways, and would try every combination.
  const words = text
    .split(/[\s>]+/)
    .filter(Boolean)
    .map(escape);
  return new RegExp(`(?<!${LETTER})${words.join('[\\s>]+')}(?!${LETTER})`, 'gu');
}
