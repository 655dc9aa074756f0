export type TextPart = { text: string; href?: string };

// The match leaves out what ends a sentence, but keeps brackets that belong to an address.
const LINK = /\b(?:https?:\/\/[^\s<>"]+|mailto:[^\s<>"]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)/gi;
const SAFE = ['http:', 'https:', 'mailto:'];

/** Splits a message's text into texts and addresses. Only addresses of safe kinds become links. */
export function partsOf(body: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: match, index } of body.matchAll(LINK)) {
    const text = withoutPunctuation(match);
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

function withoutPunctuation(link: string): string {
  let text = link;
  for (;;) {
    const last = text.at(-1)!;
    const closesNothing = last === ')' && !text.includes('(');
    if (!/[.,;:!?'*_\]}]/.test(last) && !closesNothing) return text;
    text = text.slice(0, -1);
  }
}

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

/** Removes what the service cannot store: half surrogates and NUL. */
export function storable(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}
