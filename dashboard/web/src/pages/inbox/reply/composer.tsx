import { Alert, Button, Group, Text, Textarea } from '@mantine/core';
import { type KeyboardEvent, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Channel, Conversation, SavedReplyVariable } from '../../../api/types';
import { useWorkspace } from '../../../api/workspace';
import { isSendPress, keyOf } from '../../../common/keys';
import { CHANNEL_LABELS } from '../../../common/channel-logo';
import { useFormats, useTexts } from '../../../i18n/locale';
import { measureBody } from './body-limit';
import { ReplyFiles } from '../files/lazy-files';
import classes from '../inbox.module.css';
import { useChosenFiles, useNoteText } from './kept-replies';
import { isUseless, ReplyNotice, useReplyCheck } from './reply-notice';
import { useKnownMessage } from './known-message';
import { type Mode, ModeSwitch } from './mode-switch';
import { NoteForm } from './note-form';
import { useWriting } from '../conversation/presence-signals';
import { useDraft } from './use-draft';
import { SEND_MODIFIER, useKeys } from '../use-keys';
import { useSavedReplies } from './use-saved-replies';
import type { useSending } from './use-sending';

/** Whether CSS makes a field as high as its text. Otherwise a script must measure the text. */
const SIZES_ITSELF = CSS.supports('field-sizing', 'content');
/** Fraction of a channel's limit from which on the length of a reply is shown. */
const NEAR = 0.8;

export function Composer({
  conversation,
  sending,
}: {
  conversation: Conversation;
  sending: ReturnType<typeof useSending>;
}) {
  const { id, sourceChannel, status } = conversation;
  const { inbox, savedReplies } = useTexts();
  const formats = useFormats();
  const { isSuspended, isTrialExpired } = useWorkspace();
  const check = useReplyCheck(conversation);
  const [draft, setDraft, endDraft] = useDraft(id);
  const writing = useWriting(id, 'REPLYING');
  const known = useKnownMessage(id);
  const [note] = useNoteText(id);
  const [files, chosen] = useChosenFiles(id);
  const [mode, setMode] = useState<Mode>(
    note !== '' && draft === '' && files.length === 0 ? 'note' : 'reply',
  );
  const field = useRef<HTMLTextAreaElement>(null);
  const write = (next: Mode) => {
    flushSync(() => setMode(next));
    field.current?.focus();
  };
  useKeys({ r: () => write('reply'), n: () => write('note') });
  const [missing, setMissing] = useState<string[]>([]);
  const change = (text: string) => {
    setDraft(text);
    writing.type(text);
    known.type(text);
  };
  const saved = useSavedReplies({ field, conversation, onChange: change, onMissing: setMissing });
  const body = draft.trim();
  const { isOver, text } = useLimit(sourceChannel, body);

  if (isSuspended || isTrialExpired) {
    return (
      <div className={classes.composer}>
        <Alert
          color={isSuspended ? 'red' : 'yellow'}
          title={isSuspended ? inbox.suspended : inbox.trialExpired}
        >
          {isSuspended ? inbox.suspendedAdvice : inbox.trialExpiredAdvice}
        </Alert>
      </div>
    );
  }

  if (mode === 'note') return <NoteForm ref={field} conversationId={id} onChangeMode={setMode} />;

  const isUploaded = files.every(({ upload, refusal }) => upload && !refusal);
  const isEmpty = body === '' && files.length === 0;
  const mayNotSend = isEmpty || !isUploaded || isOver || isUseless(check);
  const send = (closes: boolean) => {
    if (mayNotSend) return;
    endDraft(body);
    setMissing([]);
    writing.end();
    sending.send({ key: crypto.randomUUID(), body, files, closes, seenMessageId: known.end() });
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isSendPress(event)) {
      event.preventDefault();
      send(false);
    }
    // Moves the focus out of the field, so that single keys are the inbox's shortcuts again.
    if (keyOf(event) === 'Escape') event.currentTarget.closest('section')?.focus({ preventScroll: true });
  };
  return (
    <form
      className={classes.composer}
      onSubmit={(event) => {
        event.preventDefault();
        send(false);
      }}
    >
      {saved.list}
      <ReplyNotice channel={sourceChannel} check={check} />
      <ModeSwitch mode={mode} onChange={setMode} />
      <ReplyFiles conversation={conversation} files={files} chosen={chosen} field={field} />
      <Textarea
        {...saved.fieldProps}
        ref={field}
        aria-label={inbox.reply}
        placeholder={inbox.placeholder}
        autosize={!SIZES_ITSELF}
        classNames={{ input: classes.reply }}
        minRows={2}
        maxRows={10}
        dir="auto"
        value={draft}
        onChange={({ currentTarget }) => {
          change(currentTarget.value);
          saved.look(currentTarget);
        }}
        onBlur={saved.close}
        onKeyDown={(event) => saved.takeKey(event) || onKeyDown(event)}
        error={isOver ? text : undefined}
      />
      {missing.length > 0 && (
        <Text size="xs" mt="xs" c="var(--mantine-color-yellow-light-color)" role="status">
          {inbox.saved.missing(
            formats.list(missing.map((name) => savedReplies.variable[name as SavedReplyVariable] ?? name)),
          )}
        </Text>
      )}
      <Group justify="space-between" gap="xs" mt="xs">
        <Text size="xs" c="dimmed" className={classes.hint}>
          {(!isOver && text) || inbox.sendKeys(SEND_MODIFIER)}
        </Text>
        <Group gap="xs" className={classes.sendActs}>
          {status !== 'CLOSED' && (
            <Button variant="default" disabled={mayNotSend} onClick={() => send(true)}>
              {inbox.sendAndClose}
            </Button>
          )}
          <Button type="submit" disabled={mayNotSend}>
            {inbox.send}
          </Button>
        </Group>
      </Group>
    </form>
  );
}

/** Reports whether a message exceeds its channel's limit. `text` is its length if it is near the limit. */
function useLimit(channel: Channel, body: string): { isOver: boolean; text: string | undefined } {
  const { inbox } = useTexts();
  const formats = useFormats();
  const { used, max, unit } = measureBody(channel, body);
  if (used < max * NEAR) return { isOver: false, text: undefined };
  const text = inbox.limit[unit](formats.number(used), formats.number(max));
  const isOver = used > max;
  return { isOver, text: isOver ? inbox.tooLong(CHANNEL_LABELS[channel], text) : text };
}
