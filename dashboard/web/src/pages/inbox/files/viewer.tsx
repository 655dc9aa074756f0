import { ActionIcon, Modal, Text } from '@mantine/core';
import { IconChevronLeft, IconChevronRight, IconDownload } from '@tabler/icons-react';
import { type KeyboardEvent, useLayoutEffect, useMemo, useState } from 'react';
import { keyOf } from '../../../common/keys';
import type { Message } from '../../../api/types';
import { useFormats, useTexts } from '../../../i18n/locale';
import { useFileTexts } from './file-texts';
import classes from './files.module.css';
import { isPicture, useContentPath } from './picture';

/** Shows the pictures of the loaded messages one by one, as large as the page. Arrow keys show the others. */
export function Viewer({
  messages,
  firstId,
  onClose,
}: {
  /** Messages of the conversation, the newest first. */
  messages: Message[];
  firstId: string;
  onClose: () => void;
}) {
  const texts = useFileTexts();
  const { common } = useTexts();
  const formats = useFormats();
  const pathOf = useContentPath();
  const pictures = useMemo(
    () => messages.toReversed().flatMap(({ attachments }) => attachments.filter(isPicture)),
    [messages],
  );
  const [id, setId] = useState(firstId);
  useFocusReturn();
  const index = pictures.findIndex((one) => one.id === id);
  const picture = pictures[index];
  const previous = pictures[index - 1];
  const next = pictures[index + 1];
  const onKeyDown = (event: KeyboardEvent) => {
    const shown = { ArrowLeft: previous, ArrowRight: next, Home: pictures[0], End: pictures.at(-1) };
    const key = keyOf(event);
    if (!(key in shown)) return;
    event.preventDefault();
    const chosen = shown[key as keyof typeof shown];
    if (chosen) setId(chosen.id);
  };
  // A picture that was taken back meanwhile is shown no more.
  if (!picture) return null;
  const name = picture.name ?? texts.kinds.IMAGE;
  return (
    <Modal
      opened
      onClose={onClose}
      fullScreen
      title={
        <>
          <bdi className={classes.viewerName}>{name}</bdi>
          <Text size="xs" c="dimmed" component="span" role="status">
            {texts.position(formats.number(index + 1), formats.number(pictures.length))}
          </Text>
        </>
      }
      closeButtonProps={{ 'aria-label': common.close }}
      classNames={{ content: classes.viewer, body: classes.viewerBody, title: classes.viewerTitle }}
      onKeyDown={onKeyDown}
    >
      <ActionIcon
        size="xl"
        variant="default"
        aria-label={texts.previous}
        disabled={!previous}
        onClick={() => previous && setId(previous.id)}
      >
        <IconChevronLeft size={22} aria-hidden />
      </ActionIcon>
      <img
        key={picture.id}
        className={classes.whole}
        src={pathOf(picture.id)}
        alt={picture.caption ?? name}
      />
      <ActionIcon
        size="xl"
        variant="default"
        aria-label={texts.next}
        disabled={!next}
        onClick={() => next && setId(next.id)}
      >
        <IconChevronRight size={22} aria-hidden />
      </ActionIcon>
      {picture.caption !== null && (
        <p className={classes.viewerCaption} dir="auto">
          {picture.caption}
        </p>
      )}
      <a className={classes.viewerSave} href={pathOf(picture.id, { save: 'yes' })} download>
        <IconDownload size={16} stroke={1.6} aria-hidden />
        {texts.save(name)}
      </a>
    </Modal>
  );
}

/** Moves the focus back to the picture in the conversation when the viewer closes. */
function useFocusReturn(): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
}
