import {
  IconFile,
  IconMapPin,
  IconMessageQuestion,
  IconMicrophone,
  IconPaperclip,
  IconPhoto,
  IconSticker,
  IconUser,
  IconVideo,
} from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { FoundMessage } from '../../api/types';
import { useTexts } from '../../i18n/locale';
import type { Texts } from '../../i18n/texts-en';
import classes from './placeholders.module.css';

/** Names of contents other than text, as the service puts them into a message's text: `[image] Our shop`. */
export type ContentKind = keyof Texts['inbox']['content'];

const ICONS: Partial<Record<ContentKind, typeof IconPhoto>> = {
  image: IconPhoto,
  animation: IconPhoto,
  video: IconVideo,
  reel: IconVideo,
  audio: IconMicrophone,
  'voice message': IconMicrophone,
  document: IconFile,
  file: IconFile,
  sticker: IconSticker,
  location: IconMapPin,
  contact: IconUser,
  'unsupported message': IconMessageQuestion,
  message: IconMessageQuestion,
  'empty message': IconMessageQuestion,
};

/** Content of a message, with what the service knows of it in words, such as a caption. */
interface Content {
  kind: ContentKind;
  detail: string;
}

const PLACEHOLDER = /^\[([a-z ]+)\](?:\s([^]*))?$/;
/** Matches the blank between two contents: a line's end, or in one line, what follows a bare placeholder. */
const BETWEEN = /\n(?=\[)|(?<=\]) (?=\[)/;

/** Reads what a customer has sent instead of text; null if the text is the customer's own. */
function readContents(text: string, kinds: Texts['inbox']['content']): Content[] | null {
  const contents = text.split(BETWEEN).map((part): Content | null => {
    const [, kind = '', detail = ''] = PLACEHOLDER.exec(part) ?? [];
    return Object.hasOwn(kinds, kind) ? { kind: kind as ContentKind, detail } : null;
  });
  return contents.every((content) => content !== null) ? contents : null;
}

/** A customer's text, or what they have sent instead: an icon and words for each content. */
export function CustomerText({ text }: { text: string }) {
  const { content } = useTexts().inbox;
  const contents = readContents(text, content);
  if (!contents) return text;
  return contents.map(({ kind, detail }, index) => (
    <span key={index} className={classes.content} data-content>
      <ContentName kind={kind} />
      {detail !== '' && (
        <>
          {' '}
          <bdi>{detail}</bdi>
        </>
      )}
    </span>
  ));
}

/** Icon and name of a content. */
function ContentName({ kind }: { kind: ContentKind }) {
  const { content } = useTexts().inbox;
  const Icon = ICONS[kind] ?? IconPaperclip;
  return (
    <span className={classes.kind}>
      <Icon size={16} stroke={1.6} aria-hidden />
      {content[kind]}
    </span>
  );
}

/** Returns a function that puts into words what a customer has written or sent. */
export function useCustomerWords(): (text: string) => string {
  const { content } = useTexts().inbox;
  return (text) =>
    readContents(text, content)
      ?.map(({ kind, detail }) => (detail === '' ? content[kind] : `${content[kind]}: ${detail}`))
      .join(', ') ?? text;
}

type Excerpt = FoundMessage['excerpt'];

/** The excerpt of a customer's message in which a search has found something, with its hits marked. */
export function CustomerExcerpt({
  excerpt,
  show,
}: {
  excerpt: Excerpt;
  show: (excerpt: Excerpt) => ReactNode;
}) {
  const { content } = useTexts().inbox;
  const contents = readContents(excerpt.map(({ text }) => text).join(''), content);
  if (contents?.length !== 1) return show(excerpt);
  const [{ kind }] = contents as [Content];
  return (
    <>
      <ContentName kind={kind} /> {show(partsFrom(excerpt, `[${kind}] `.length))}
    </>
  );
}

/** Returns the parts of an excerpt without its first characters. */
function partsFrom(excerpt: Excerpt, count: number): Excerpt {
  let left = count;
  return excerpt.map((part) => {
    const text = part.text.slice(left);
    left = Math.max(0, left - part.text.length);
    return { ...part, text };
  });
}
