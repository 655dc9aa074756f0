import { useId } from 'react';
import { useTexts } from '../../../i18n/locale';
import classes from './notes.module.css';

const MODES = ['reply', 'note'] as const;

/** Kind of text that the agent writes: a reply to the customer, or a note for colleagues alone. */
export type Mode = (typeof MODES)[number];

/**
 * Shows a choice between a reply and a note. Each has its own text, so that a note is never sent as a reply.
 */
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
