import { ActionIcon, Text } from '@mantine/core';
import { IconPaperclip } from '@tabler/icons-react';
import { type RefObject, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import type { Conversation, FileLimits, FileForm } from '../../../api/types';
import { useRead, useWorkspace } from '../../../api/workspace';
import { CHANNEL_LABELS } from '../../../common/channel-logo';
import { hasFiles } from '../../../common/dropped-files';
import { useFormats } from '../../../i18n/locale';
import type { ChosenFile, ChosenFiles } from '../reply/kept-replies';
import { ChosenFileItem } from './chosen-file-item';
import { freeOldBytes, keepBytes } from './file-bytes';
import { nameToStore } from './file-name';
import { useFileSize } from './file-size';
import { useFileTexts } from './file-texts';
import classes from './files.module.css';
import { continueUploads, type UploadTarget } from './uploads';

/** Most files of a reply until the server has told it. */
const MAX_FILES = 10;

/** The files of a reply: a button that chooses them, and the chosen ones, whose upload begins at once. */
export function ReplyFiles({
  conversation: { id, sourceChannel },
  files,
  chosen,
  field,
}: {
  conversation: Conversation;
  files: ChosenFile[];
  chosen: ChosenFiles;
  /** Field of the reply, which gets the focus when a file is removed. */
  field: RefObject<HTMLTextAreaElement | null>;
}) {
  const texts = useFileTexts();
  const formats = useFormats();
  const { id: workspaceId } = useWorkspace();
  const { data } = useRead<FileLimits>('uploads/limits', {}, { refreshMs: false });
  const limits = data?.channels[sourceChannel];
  const maxFiles = data?.maxFiles ?? MAX_FILES;
  const target = useMemo(
    (): UploadTarget | undefined => limits && { workspaceId, conversationId: id, chosen, limits },
    [workspaceId, id, chosen, limits],
  );
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const add = (given: File[]) => {
    if (given.length === 0) return;
    const taken = given.slice(0, maxFiles - files.length);
    setOver(taken.length < given.length);
    const added = taken.map((file) => ({ key: crypto.randomUUID(), file }));
    for (const { key, file } of added) void keepBytes(key, file);
    chosen.add(
      added.map(({ key, file: { name, size, type } }) => ({
        key,
        name: nameToStore(name),
        size,
        type,
        caption: '',
      })),
    );
    if (target) continueUploads(target);
    field.current?.focus();
  };
  const isDragged = useGivenFiles(add);

  useEffect(() => void freeOldBytes(), []);
  useEffect(() => {
    if (!target) return undefined;
    const go = () => continueUploads(target);
    go();
    window.addEventListener('online', go);
    return () => window.removeEventListener('online', go);
    // The number of files is here, because a withdrawn message brings its files back.
  }, [target, files.length]);

  const isTooMany = isOver && files.length === maxFiles;
  return (
    <>
      <ActionIcon
        data-takes-files
        variant="subtle"
        color="gray"
        className={classes.attach}
        aria-label={texts.attach}
        title={texts.attach}
        disabled={files.length >= maxFiles}
        onClick={() => input.current?.click()}
      >
        <IconPaperclip size={18} stroke={1.6} aria-hidden />
      </ActionIcon>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          add([...(currentTarget.files ?? [])]);
          // The same file can then be chosen once more.
          currentTarget.value = '';
        }}
      />
      {isDragged && (
        <div className={classes.dropHint} aria-hidden>
          {texts.drop}
        </div>
      )}
      {files.length > 0 && (
        <ul className={classes.chosen} aria-label={texts.chosen}>
          {files.map((file) => (
            <ChosenFileItem
              key={file.key}
              file={file}
              target={target}
              channel={sourceChannel}
              onRemoved={() => field.current?.focus()}
            />
          ))}
        </ul>
      )}
      <div role="status">
        {isTooMany && (
          <Text size="xs" mb="xs" c="var(--mantine-color-yellow-light-color)">
            {texts.tooMany(formats.number(maxFiles))}
          </Text>
        )}
      </div>
      {files.length > 0 && data && (
        <Text size="xs" c="dimmed" mb="xs">
          <LimitsText limits={data} channel={sourceChannel} />
        </Text>
      )}
    </>
  );
}

const FORMS: FileForm[] = ['image', 'audio', 'video', 'file'];

function LimitsText({
  limits: { maxFiles, channels },
  channel,
}: {
  limits: FileLimits;
  channel: Conversation['sourceChannel'];
}) {
  const texts = useFileTexts();
  const formats = useFormats();
  const sizeOf = useFileSize();
  const { forms, captionCharacters } = channels[channel];
  const sizes = FORMS.map((form) => {
    const limit = forms[form];
    return limit && texts.upTo(texts.forms[form], sizeOf(limit.maxBytes));
  }).filter((text) => text !== null);
  const label = CHANNEL_LABELS[channel];
  const text = texts.limits(label, formats.number(maxFiles), formats.list(sizes));
  return captionCharacters === null ? `${text} ${texts.separateCaption(label)}` : text;
}

/**
 * Receives the files that are dropped anywhere onto the page, or pasted.
 * @returns whether files are being dragged over the page
 */
function useGivenFiles(onFiles: (files: File[]) => void): boolean {
  const [isDragged, setDragged] = useState(false);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    const onDrop = ({ dataTransfer }: DragEvent) => {
      setDragged(false);
      if (hasFiles(dataTransfer)) take([...dataTransfer!.files]);
    };
    // A text copied from a word processor comes with a picture, but the browser pastes only the text.
    const onPaste = ({ clipboardData: data }: ClipboardEvent) => {
      if (hasFiles(data) && !data!.types.includes('text/plain')) take([...data!.files]);
    };
    const onDrag = ({ dataTransfer }: DragEvent) => setDragged(hasFiles(dataTransfer));
    const onLeave = ({ relatedTarget }: DragEvent) => relatedTarget === null && setDragged(false);
    window.addEventListener('drop', onDrop);
    window.addEventListener('paste', onPaste);
    window.addEventListener('dragenter', onDrag);
    window.addEventListener('dragleave', onLeave);
    return () => {
      window.removeEventListener('drop', onDrop);
      window.removeEventListener('paste', onPaste);
      window.removeEventListener('dragenter', onDrag);
      window.removeEventListener('dragleave', onLeave);
    };
  }, []);
  return isDragged;
}
