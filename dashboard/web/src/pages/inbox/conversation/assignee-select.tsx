import type { Ref } from 'react';
import { useWorkspace } from '../../../api/workspace';
import { useTexts } from '../../../i18n/locale';
import { AgentField, type AgentOption } from '../agent-field';
import { NOBODY } from '../list/cached-lists';
import { useAgentName, useAgents, useColleagueOptions } from '../names';
import classes from './assignee-select.module.css';

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
  const value = assignedAgentId ?? NOBODY;
  return (
    <AgentField
      ref={ref}
      label={inbox.assignee}
      options={useOptions(value)}
      value={value}
      isDisabled={isDisabled}
      className={classes.field}
      onChoose={(chosen) => {
        if (chosen !== value) onAssign(chosen === NOBODY ? null : chosen);
      }}
    />
  );
}

/** Lists the choices: no agent, the person, other active agents, and the assigned one even if inactive. */
function useOptions(value: string): AgentOption[] {
  const { inbox } = useTexts();
  const { agentId } = useWorkspace();
  const me = useAgents().find(({ id }) => id === agentId);
  const nameOf = useAgentName();
  const options = [
    { value: NOBODY, label: inbox.nobody },
    { value: agentId, label: me ? inbox.withYou(me.name) : inbox.you },
    ...useColleagueOptions(),
  ];
  const isThere = options.some((one) => one.value === value);
  return isThere ? options : [...options, { value, label: nameOf(value) }];
}
