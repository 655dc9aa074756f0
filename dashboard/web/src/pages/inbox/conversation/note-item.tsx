import { ActionIcon } from '@mantine/core';
import { IconLock, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import type { Note } from '../../../api/types';
import { useMayManage, useWorkspace } from '../../../api/workspace';
import { ConfirmDialog } from '../../../common/dialogs';
import { useFormats, useTexts } from '../../../i18n/locale';
import { useAgentName } from '../names';
import classes from '../reply/notes.module.css';
import { useDeleteNote } from '../reply/use-notes';

export function NoteItem({ note, conversationId }: { note: Note; conversationId: string }) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const { agentId, isSuspended, isTrialExpired } = useWorkspace();
  const mayManage = useMayManage();
  const [isAsking, setAsking] = useState(false);
  const author = useAgentName()(note.authorAgentId);
  const mayDelete = (mayManage || note.authorAgentId === agentId) && !isSuspended && !isTrialExpired;
  return (
    <article className={classes.note} aria-label={inbox.note.by(author)} data-note>
      <div className={classes.head}>
        <IconLock size={14} stroke={1.8} aria-hidden />
        {inbox.note.label}
        {mayDelete && (
          <ActionIcon
            size="sm"
            variant="subtle"
            color="gray"
            aria-label={inbox.note.delete}
            title={inbox.note.delete}
            onClick={() => setAsking(true)}
          >
            <IconTrash size={14} stroke={1.6} aria-hidden />
          </ActionIcon>
        )}
      </div>
      <p className={classes.body} dir="auto">
        {note.body}
      </p>
      <div className={classes.meta}>
        <bdi className={classes.author}>{author}</bdi>
        <time dateTime={note.createdAt} title={formats.moment(note.createdAt)}>
          {formats.time(note.createdAt)}
        </time>
      </div>
      {isAsking && (
        <DeleteDialog note={note} conversationId={conversationId} onClose={() => setAsking(false)} />
      )}
    </article>
  );
}

function DeleteDialog({
  note: { id, body },
  conversationId,
  onClose,
}: {
  note: Note;
  conversationId: string;
  onClose: () => void;
}) {
  const { inbox } = useTexts();
  const remove = useDeleteNote(conversationId, onClose);
  return (
    <ConfirmDialog
      title={inbox.note.askDelete}
      about={body}
      action={inbox.note.delete}
      isPending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onConfirm={() => remove.mutate(id)}
    >
      {inbox.note.askDeleteAdvice}
    </ConfirmDialog>
  );
}
