import { Select } from '@mantine/core';
import type { Ref } from 'react';
import type { Agent } from '../../api/types';
import { useWorkspace } from '../../api/workspace';
import { useTexts } from '../../i18n/locale';
import { NOBODY } from './inbox-filter';
import classes from './inbox.module.css';
import { useAgentName, useAgents } from './names';

/** Number of agents in the menu. Typing finds the others. */
const SHOWN = 50;

/** Menu that assigns a conversation to the person, a colleague or nobody. */
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
  const { agentId } = useWorkspace();
  const agents = useAgents().filter(({ active }) => active);
  const nameOf = useAgentName();
  const toOption = ({ id, name, isBot }: Agent) => ({ value: id, label: isBot ? inbox.withBot(name) : name });
  const me = agents.find(({ id }) => id === agentId);
  const options = [
    { value: NOBODY, label: inbox.nobody },
    { value: agentId, label: me ? inbox.withYou(me.name) : inbox.you },
    ...agents.filter(({ id }) => id !== agentId).map(toOption),
  ];
  if (assignedAgentId !== null && !options.some(({ value }) => value === assignedAgentId))
    options.push({ value: assignedAgentId, label: nameOf(assignedAgentId) });
  return (
    <Select
      ref={ref}
      className={classes.assign}
      aria-label={inbox.assignee}
      title={inbox.assignee}
      data={options}
      value={assignedAgentId ?? NOBODY}
      onChange={(value) => {
        if (value !== null) onAssign(value === NOBODY ? null : value);
      }}
      onFocus={(event) => event.currentTarget.select()}
      searchable
      selectFirstOptionOnChange
      limit={SHOWN}
      allowDeselect={false}
      withScrollArea={false}
      nothingFoundMessage={inbox.noAgentFound}
      disabled={isDisabled}
      comboboxProps={{ width: 260, position: 'bottom-start' }}
      classNames={{ dropdown: classes.agents }}
      openOnFocus={false}
    />
  );
}
