type TextPart = { text: string; href?: string };

/**
 * Characters of an address: ASCII without quotes and angle brackets, and the letters, marks and digits of all
 * scripts. Punctuation and symbols beyond ASCII end an address; where they belong to it, browsers write them
 * percent-encoded.
 */
const ADDRESS = String.raw`(?:[!#-;=?-_a-~\u200c\u200d]|[^\0-\x7f\p{P}\p{S}\p{Z}\p{C}])+`;
/** Characters of e-mail addresses: the letters of scripts that put spaces between words. */
const WORD = String.raw`[\w\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}\p{M}-]`;
const LINK = new RegExp(
  String.raw`(?<![^\W_])(?:(?:https?:\/\/|mailto:)${ADDRESS}|(?:${WORD}|[.+])+@${WORD}+(?:\.${WORD}+)+)`,
  'giu',
);
/** Matches a host and the text that scripts without spaces write directly after it. */
const AFTER_HOST =
  /^(https?:\/\/[^/?#]*\.[a-z]{2,})[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}].*/isu;
const SAFE = ['http:', 'https:', 'mailto:'];

/** Splits a message's text into texts and addresses. Only addresses of safe kinds become links. */
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

/** Leaves out the punctuation that ends a sentence, but keeps brackets that were opened in the address. */
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

/** Returns the first letters of the first and the last word of a name. */
export function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const shown = words.length > 1 ? [words[0]!, words.at(-1)!] : words;
  return shown.map((word) => [...word][0]).join('');
}

/** Counts characters as the service does: an emoji may be several. */
export function countCharacters(text: string): number {
  return [...text].length;
}

/** Removes characters that the service cannot store: half surrogates and NUL. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
