type TextPart = { text: string; href?: string };

/**
 * Matches the characters of an address: ASCII except quotes and angle brackets, and letters, marks and digits
 * of all scripts. Browsers percent-encode other characters in an address, so these end the match.
 */
const ADDRESS = String.raw`(?:[!#-;=?-_a-~\u200c\u200d]|[^\0-\x7f\p{P}\p{S}\p{Z}\p{C}])+`;
/** Matches a letter of an e-mail address, in scripts that separate words by spaces. */
const WORD = String.raw`[\w\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{M}-]`;
const LINK = new RegExp(
  String.raw`(?<![^\W_])(?:(?:https?:\/\/|mailto:)${ADDRESS}|(?:${WORD}|[.+])+@${WORD}+(?:\.${WORD}+)+)`,
  'giu',
);
/** Matches a URL whose host name is followed, without a space, by text in a script such as Thai. */
const AFTER_HOST =
  /^(https?:\/\/[^/?#]*\.[a-z]{2,})[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}].*/isu;
const SAFE = ['http:', 'https:', 'mailto:'];

/** Splits a message's text into plain text and links. Only http, https and mailto addresses become links. */
export function partsOf(body: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: match, index } of body.matchAll(LINK)) {
    const text = withoutPunctuation(match.replace(AFTER_HOST, '$1'));
    const href = safeHref(/^(https?|mailto):/i.test(text) ? text : `mailto:${text}`);
    if (!href) continue;
    if (index > from) parts.push({ text: body.slice(from, index) });
    parts.push({ text, href });
    from = index + text.length;
  }
  if (from < body.length) parts.push({ text: body.slice(from) });
  return parts;
}

function safeHref(text: string): string | null {
  try {
    const { protocol, href } = new URL(text);
    return SAFE.includes(protocol) ? href : null;
  } catch {
    return null;
  }
}

/** Removes punctuation from the end, except closing brackets that were opened in the address. */
function withoutPunctuation(link: string): string {
  let text = link;
  for (;;) {
    const last = text.at(-1)!;
    const bracket = BRACKETS[last];
    const isExcess = bracket ? countOf(text, last) > countOf(text, bracket) : /[.,;:!?'*_]/.test(last);
    if (!isExcess) return text;
    text = text.slice(0, -1);
  }
}

const BRACKETS: Partial<Record<string, string>> = { ')': '(', ']': '[', '}': '{' };
const countOf = (text: string, character: string) => text.split(character).length;

export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const shown = words.length > 1 ? [words[0]!, words.at(-1)!] : words;
  return shown.map((word) => [...word][0]).join('');
}

/** Counts Unicode code points, as the service does. An emoji may have several. */
export function countCharacters(text: string): number {
  return [...text].length;
}

/** Removes NUL and replaces lone surrogates, because the service cannot store either. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
