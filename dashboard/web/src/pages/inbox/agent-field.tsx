import { TextInput } from '@mantine/core';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import { type KeyboardEvent, type Ref, useEffect, useId, useState } from 'react';
import { keyOf } from '../../common/keys';
import listbox from '../../common/listbox.module.css';
import { useTexts } from '../../i18n/locale';
import classes from './agent-field.module.css';

/** Largest number of agents in the list. To find other agents, the person types. */
const SHOWN = 50;

export interface AgentOption {
  value: string;
  label: string;
}

/** Shows a field that chooses an agent. Typing filters the list, and Enter chooses its first entry. */
export function AgentField({
  label,
  options,
  value,
  isDisabled = false,
  isOpenFirst = false,
  onChoose,
  onLeave,
  ref,
  className = '',
}: {
  label: string;
  options: AgentOption[];
  value: string | null;
  isDisabled?: boolean;
  /** Whether the field gets the focus and shows its list when it is first rendered. */
  isOpenFirst?: boolean;
  onChoose: (value: string) => void;
  /** Called when the person leaves the field without a choice. After Escape, it still has the focus. */
  onLeave?: () => void;
  ref?: Ref<HTMLInputElement>;
  className?: string;
}) {
  const { inbox } = useTexts();
  const id = useId();
  const [isOpen, setOpen] = useState(isOpenFirst);
  const [typed, setTyped] = useState<string | null>(null);
  const [moved, setMoved] = useState<number | null>(null);
  const found = isOpen ? findOptions(options, typed) : [];
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
  const leave = () => {
    close();
    onLeave?.();
  };
  const choose = (chosen: AgentOption) => {
    close();
    onChoose(chosen.value);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const key = keyOf(event);
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step !== undefined) {
      if (isOpen) setMoved((at + step + found.length) % Math.max(1, found.length));
      else setOpen(true);
    } else if (key === 'Enter' && active) choose(active);
    else if (key === 'Escape' && isOpen) leave();
    else return;
    event.preventDefault();
  };

  return (
    <div className={`${classes.anchor} ${className}`}>
      <TextInput
        ref={ref}
        autoFocus={isOpenFirst}
        role="combobox"
        aria-label={label}
        title={label}
        placeholder={label}
        aria-haspopup="listbox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-activedescendant={optionId}
        autoComplete="off"
        spellCheck={false}
        value={typed ?? options.find((one) => one.value === value)?.label ?? ''}
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
        onBlur={leave}
        onKeyDown={onKeyDown}
      />
      {isOpen && (
        <div className={`${listbox.popup} ${classes.popup}`}>
          {found.length === 0 && (
            <p className={listbox.none} role="status">
              {inbox.noAgentFound}
            </p>
          )}
          <ul role="listbox" id={id} aria-label={label} className={listbox.list}>
            {found.map((option, index) => (
              <li
                key={option.value}
                id={`${id}-${option.value}`}
                role="option"
                aria-selected={index === at}
                className={`${listbox.option} ${classes.option}`}
                // Keeps the focus in the field when the mouse is pressed on an option.
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

function findOptions(options: AgentOption[], typed: string | null): AgentOption[] {
  const wanted = typed?.trim().toLocaleLowerCase() ?? '';
  return options.filter(({ label }) => label.toLocaleLowerCase().includes(wanted)).slice(0, SHOWN);
}
