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
import { useTexts } from '../../i18n/locale';
import { type Content, type ContentKind, type Excerpt, partsFrom, readContents } from './contents';
import classes from './placeholders.module.css';

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

/** Shows a customer's text, or an icon and a name for each content of another kind, such as an image. */
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

/** Returns a function that writes a customer's text or other contents, such as an image, as plain text. */
export function useCustomerWords(): (text: string) => string {
  const { content } = useTexts().inbox;
  return (text) =>
    readContents(text, content)
      ?.map(({ kind, detail }) => (detail === '' ? content[kind] : `${content[kind]}: ${detail}`))
      .join(', ') ?? text;
}

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
