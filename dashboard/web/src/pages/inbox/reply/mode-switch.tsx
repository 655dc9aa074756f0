import { useId } from 'react';
import { useTexts } from '../../../i18n/locale';
import classes from './notes.module.css';

const MODES = ['reply', 'note'] as const;

export type Mode = (typeof MODES)[number];

/** Shows a choice of reply or note. Each has its own text, so that a note is never sent to the customer. */
export function ModeSwitch({ mode, onChange }: { mode: Mode; onChange: (mode: Mode) => void }) {
  const { inbox } = useTexts();
  const name = useId();
  return (
    <div role="radiogroup" aria-label={inbox.note.mode} className={classes.modes}>
      {MODES.map((one) => (
        <label key={one} className={classes.mode} data-mode={one}>
          <input
            type="radio"
            name={name}
            checked={mode === one}
            aria-label={inbox.note.modeNames[one]}
            onChange={() => onChange(one)}
          />
          {inbox.note.modes[one]}
        </label>
      ))}
    </div>
  );
}
