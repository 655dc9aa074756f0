import { Button, Group, Text, Textarea } from '@mantine/core';
import type { KeyboardEvent, Ref } from 'react';
import type { MAX_NOTE_CHARACTERS } from '../../../api/types';
import { isSendPress, keyOf } from '../../../common/keys';
import { ErrorNotice } from '../../../common/error-notice';
import { useFormats, useTexts } from '../../../i18n/locale';
import inboxClasses from '../inbox.module.css';
import { useNoteText } from './kept-replies';
import { type Mode, ModeSwitch } from './mode-switch';
import { useWriting } from '../conversation/presence-signals';
import { NoFiles } from './no-files';
import classes from './notes.module.css';
import { SEND_MODIFIER } from '../use-keys';
import { useCreateNote } from './use-notes';

const MAX_CHARACTERS: typeof MAX_NOTE_CHARACTERS = 4096;

export function NoteForm({
  conversationId,
  onChangeMode,
  ref,
}: {
  conversationId: string;
  onChangeMode: (mode: Mode) => void;
  ref: Ref<HTMLTextAreaElement>;
}) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const [text, setText] = useNoteText(conversationId);
  const writing = useWriting(conversationId, 'NOTING');
  const create = useCreateNote(conversationId, () => {
    setText('');
    writing.end();
  });
  const body = text.trim();
  const used = [...body].length;
  const isOver = used > MAX_CHARACTERS;
  const add = () => {
    if (body !== '' && !isOver && !create.isPending) create.mutate(body);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isSendPress(event)) {
      event.preventDefault();
      add();
    }
    if (keyOf(event) === 'Escape') event.currentTarget.closest('section')?.focus({ preventScroll: true });
  };
  return (
    <form
      className={`${inboxClasses.composer} ${classes.form}`}
      onSubmit={(event) => {
        event.preventDefault();
        add();
      }}
    >
      <ModeSwitch mode="note" onChange={onChangeMode} />
      <NoFiles />
      {create.error && <ErrorNotice error={create.error} />}
      <Textarea
        ref={ref}
        aria-label={inbox.note.label}
        placeholder={inbox.note.placeholder}
        autosize
        minRows={2}
        maxRows={10}
        dir="auto"
        value={text}
        onChange={({ currentTarget: { value } }) => {
          setText(value);
          writing.type(value);
        }}
        onKeyDown={onKeyDown}
        error={isOver && inbox.limit.characters(formats.number(used), formats.number(MAX_CHARACTERS))}
      />
      <Group justify="space-between" gap="xs" mt="xs">
        <Text size="xs" className={inboxClasses.hint}>
          {inbox.note.keys(SEND_MODIFIER)}
        </Text>
        <Button
          type="submit"
          color="yellow.8"
          className={inboxClasses.sendActs}
          disabled={body === '' || isOver}
          loading={create.isPending}
        >
          {inbox.note.add}
        </Button>
      </Group>
    </form>
  );
}
