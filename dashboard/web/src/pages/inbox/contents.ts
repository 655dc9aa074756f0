import type { FoundMessage } from '../../api/types';
import type { Texts } from '../../i18n/texts-en';

/** Kind of content that a message's text names in brackets, such as `image` in `[image] Our shop`. */
export type ContentKind = keyof Texts['inbox']['content'];

/** Content of a message, such as an image. `detail` is the text after its `[image]`, such as a caption. */
export interface Content {
  kind: ContentKind;
  detail: string;
}

const PLACEHOLDER = /^\[([a-z ]+)\](?:\s([^]*))?$/;
/** Matches the white space between two contents: a line break before `[`, or a space between `]` and `[`. */
const BETWEEN = /\n(?=\[)|(?<=\]) (?=\[)/;

/** Returns the contents that a customer has sent instead of text; null if the text is the customer's own. */
export function readContents(text: string, kinds: Texts['inbox']['content']): Content[] | null {
  const contents = text.split(BETWEEN).map((part): Content | null => {
    const [, kind = '', detail = ''] = PLACEHOLDER.exec(part) ?? [];
    return Object.hasOwn(kinds, kind) ? { kind: kind as ContentKind, detail } : null;
  });
  return contents.every((content) => content !== null) ? contents : null;
}

export type Excerpt = FoundMessage['excerpt'];

export function partsFrom(excerpt: Excerpt, count: number): Excerpt {
  let left = count;
  return excerpt.map((part) => {
    const text = part.text.slice(left);
    left = Math.max(0, left - part.text.length);
    return { ...part, text };
  });
}
