import { TextInput } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { type KeyboardEvent, type Ref, useEffect, useId, useState } from 'react';
import { useWorkspace } from '../../../api/workspace';
import listbox from '../../../common/listbox.module.css';
import { useTexts } from '../../../i18n/locale';
import classes from './assignee-select.module.css';
import { NOBODY } from '../inbox-filter';
import { useAgentName, useAgents } from '../names';

/** Number of agents in the list. Typing finds the others. */
const SHOWN = 50;

interface Option {
  value: string;
  label: string;
}

/**
 * Field that assigns a conversation to the person, a colleague or nobody. Typing finds an agent, and Enter
 * chooses the first. The list is below the field without any measuring: a conversation opens with this field.
 */
export function AssigneeSelect({
  assignedAgentId,
  isDisabled,
  onAssign,
  ref,
}: {
  assignedAgentId: string | null;
  isDisabled: boolean;
  onAssign: (agentId: string | null) => void;
  ref: Ref<HTMLInputElement>;
}) {
  const { inbox } = useTexts();
  const id = useId();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState<string | null>(null);
  const [moved, setMoved] = useState<number | null>(null);
  const value = assignedAgentId ?? NOBODY;
  const all = useOptions(value);
  const found = isOpen ? findOptions(all, typed) : [];
  const first = typed
    ? 0
    : Math.max(
        0,
        found.findIndex((one) => one.value === value),
      );
  const at = Math.min(moved ?? first, found.length - 1);
  const active = found[at];
  const optionId = active && `${id}-${active.value}`;

  useEffect(() => {
    if (optionId) document.getElementById(optionId)?.scrollIntoView({ block: 'nearest' });
  }, [optionId]);

  const close = () => {
    setOpen(false);
    setTyped(null);
    setMoved(null);
  };
  const choose = (chosen: Option) => {
    close();
    if (chosen.value !== value) onAssign(chosen.value === NOBODY ? null : chosen.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step !== undefined) {
      if (isOpen) setMoved((at + step + found.length) % Math.max(1, found.length));
      else setOpen(true);
    } else if (key === 'Enter' && active) choose(active);
    else if (key === 'Escape' && isOpen) close();
    else return;
    event.preventDefault();
  };

  return (
    <div className={classes.anchor}>
      <TextInput
        ref={ref}
        role="combobox"
        aria-label={inbox.assignee}
        title={inbox.assignee}
        aria-haspopup="listbox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-activedescendant={optionId}
        autoComplete="off"
        spellCheck={false}
        value={typed ?? all.find((one) => one.value === value)?.label ?? ''}
        rightSection={<IconSelector size={16} aria-hidden />}
        rightSectionPointerEvents="none"
        disabled={isDisabled}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onClick={() => setOpen(true)}
        onChange={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setMoved(null);
          setOpen(true);
        }}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      {isOpen && (
        <div className={`${listbox.popup} ${classes.popup}`}>
          {found.length === 0 && (
            <p className={listbox.none} role="status">
              {inbox.noAgentFound}
            </p>
          )}
          <ul role="listbox" id={id} aria-label={inbox.assignee} className={listbox.list}>
            {found.map((option, index) => (
              <li
                key={option.value}
                id={`${id}-${option.value}`}
                role="option"
                aria-selected={index === at}
                className={`${listbox.option} ${classes.option}`}
                // The field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => choose(option)}
              >
                <bdi>{option.label}</bdi>
                {option.value === value && <IconCheck size={16} aria-hidden />}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** Returns nobody, the person and the active agents, with the one who is chosen. */
function useOptions(value: string): Option[] {
  const { inbox } = useTexts();
  const { agentId } = useWorkspace();
  const agents = useAgents().filter(({ active }) => active);
  const nameOf = useAgentName();
  const me = agents.find(({ id }) => id === agentId);
  const options = [
    { value: NOBODY, label: inbox.nobody },
    { value: agentId, label: me ? inbox.withYou(me.name) : inbox.you },
    ...agents
      .filter(({ id }) => id !== agentId)
      .map(({ id, name, isBot }) => ({ value: id, label: isBot ? inbox.withBot(name) : name })),
  ];
  const isThere = options.some((one) => one.value === value);
  return isThere ? options : [...options, { value, label: nameOf(value) }];
}

function findOptions(options: Option[], typed: string | null): Option[] {
  const wanted = typed?.trim().toLocaleLowerCase() ?? '';
  return options.filter(({ label }) => label.toLocaleLowerCase().includes(wanted)).slice(0, SHOWN);
}
