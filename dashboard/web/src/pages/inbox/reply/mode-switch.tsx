import { useId } from 'react';
import { useTexts } from '../../../i18n/locale';
import classes from './notes.module.css';

const MODES = ['reply', 'note'] as const;

/** Readers of the agent's text: the customer, or colleagues alone. */
export type Mode = (typeof MODES)[number];

/** Chooses between a reply and a note. Each has a text of its own, so that a note never becomes a reply. */
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
