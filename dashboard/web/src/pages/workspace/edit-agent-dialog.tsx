import { Checkbox, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Agent, AgentRole } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { useTexts } from '../../i18n/locale';
import { useGrantableRoles } from './grantable-roles';

export function EditAgentDialog({ agent, onClose }: { agent: Agent; onClose: () => void }) {
  const texts = useTexts();
  const grantable = useGrantableRoles();
  const roles = grantable.includes(agent.role) ? grantable : [...grantable, agent.role];
  const [name, setName] = useState(agent.name);
  const [role, setRole] = useState(agent.role);
  const [active, setActive] = useState(agent.active);
  const [displayName, setDisplayName] = useState(agent.displayName ?? '');
  const save = useChange((at) => api.patch(`${at}/agents/${agent.id}`, changes), texts.common.saved);
  const changes = {
    ...(name.trim() !== agent.name && name.trim() !== '' && { name: name.trim() }),
    ...(role !== agent.role && { role }),
    ...(active !== agent.active && { active }),
    ...(displayName.trim() !== (agent.displayName ?? '') && { displayName: displayName.trim() || null }),
  };
  return (
    <Dialog title={texts.agents.editNamed(agent.name)} onClose={onClose}>
      <Form
        action={texts.common.save}
        isPending={save.isPending}
        isDisabled={Object.keys(changes).length === 0}
        error={save.error}
        onSubmit={() => save.mutate(undefined, { onSuccess: onClose })}
        onCancel={onClose}
      >
        <TextInput
          label={texts.agents.name}
          required
          maxLength={200}
          autoComplete="off"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          error={faultOf(save.error, 'name')}
        />
        <NativeSelect
          label={texts.agents.role}
          description={texts.agents.roleAbout[role]}
          value={role}
          onChange={(event) => setRole(event.currentTarget.value as AgentRole)}
          data={roles.map((one) => ({ value: one, label: texts.roles[one] }))}
          error={faultOf(save.error, 'role')}
        />
        <TextInput
          label={texts.agents.displayName}
          description={texts.agents.displayNameAdvice}
          maxLength={200}
          autoComplete="off"
          value={displayName}
          onChange={(event) => setDisplayName(event.currentTarget.value)}
          error={faultOf(save.error, 'displayName')}
        />
        <Checkbox
          label={texts.agents.active}
          description={texts.agents.activeAdvice}
          checked={active}
          onChange={(event) => setActive(event.currentTarget.checked)}
        />
      </Form>
    </Dialog>
  );
}
