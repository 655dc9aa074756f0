import { UnstyledButton } from '@mantine/core';
import { useId, useState } from 'react';
import type { Message } from '../../../api/types';
import { useFormats, useTexts } from '../../../i18n/locale';
import classes from '../inbox.module.css';
import { CustomerText } from '../placeholders';

export function EditedMark({ message }: { message: Message }) {
  const { inbox } = useTexts();
  const formats = useFormats();
  const [isShown, setShown] = useState(false);
  const id = useId();
  const { editedAt, firstBody } = message;
  if (editedAt === null || firstBody === null) return null;
  return (
    <>
      <UnstyledButton
        className={classes.edited}
        aria-expanded={isShown}
        aria-controls={id}
        title={inbox.editedAt(formats.moment(editedAt))}
        onClick={() => setShown(!isShown)}
      >
        {isShown ? inbox.hideFirstText : inbox.edited}
      </UnstyledButton>
      <p id={id} className={classes.firstText} dir="auto" hidden={!isShown}>
        <span className={classes.firstTextLabel}>{inbox.firstText}</span>
        <CustomerText text={firstBody} />
      </p>
    </>
  );
}

export function Reactions({ message: { reactions } }: { message: Message }) {
  const { inbox } = useTexts();
  if (reactions.length === 0) return null;
  return (
    <ul className={classes.reactions} aria-label={inbox.reactions}>
      {reactions.map(({ emoji }) => (
        <li key={emoji} className={classes.reaction}>
          {emoji}
        </li>
      ))}
    </ul>
  );
}
