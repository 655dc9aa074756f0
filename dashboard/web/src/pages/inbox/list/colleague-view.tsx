import { IconUser } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { useTexts } from '../../../i18n/locale';
import { AgentField } from '../agent-field';
import { type InboxFilter, toSearch } from '../inbox-filter';
import classes from '../inbox.module.css';
import { useAgentName, useColleagueOptions } from '../names';
import own from './colleague-view.module.css';

export function ColleagueView({ filter }: { filter: InboxFilter }) {
  const { inbox } = useTexts();
  const { slug } = useWorkspace();
  const navigate = useNavigate();
  const nameOf = useAgentName();
  const options = useColleagueOptions();
  const button = useRef<HTMLButtonElement>(null);
  const [isChoosing, setChoosing] = useState(false);
  const name = filter.agent === undefined ? null : nameOf(filter.agent);
  const label = name === null ? inbox.colleagueView : inbox.viewOf(name);

  const end = () => {
    // Focuses the button, unless the person has moved the focus out of the field.
    if (document.activeElement?.matches('input')) button.current?.focus();
    setChoosing(false);
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`${classes.view} ${own.button}`}
        aria-label={label}
        title={label}
        aria-expanded={isChoosing}
        aria-current={name === null ? undefined : 'true'}
        // Without this, the mouse press would close the field and the click would open it again.
        onMouseDown={(event) => event.preventDefault()}
        onClick={() => (isChoosing ? end() : setChoosing(true))}
      >
        <IconUser size={16} stroke={1.6} aria-hidden />
        {name !== null && <bdi className={own.name}>{name}</bdi>}
      </button>
      {isChoosing && (
        <AgentField
          label={inbox.colleagueView}
          options={options}
          value={filter.agent ?? null}
          isOpenFirst
          className={own.field}
          onChoose={(agent) => {
            end();
            const search = toSearch({ ...filter, view: 'agent', agent });
            void navigate({ to: '/w/$slug/inbox', params: { slug }, search });
          }}
          onLeave={end}
        />
      )}
    </>
  );
}
