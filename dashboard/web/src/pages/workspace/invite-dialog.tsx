import { NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api } from '../../api/client';
import type { AgentRole, InvitedAgent } from '../../api/types';
import { useChange } from '../../api/workspace';
import { Dialog } from '../../common/dialogs';
import { Form } from '../../common/form';
import { faultOf } from '../../common/error-notice';
import { useTexts } from '../../i18n/locale';
import { useGrantableRoles } from './grantable-roles';

export function InviteDialog({
  onClose,
  onInvited,
}: {
  onClose: () => void;
  onInvited: (invited: InvitedAgent) => void;
}) {
  const texts = useTexts();
  const roles = useGrantableRoles();
  const [agent, setAgent] = useState({ name: '', email: '', role: 'AGENT' as AgentRole });
  const invite = useChange((at) => api.post<InvitedAgent>(`${at}/agents`, agent));
  return (
    <Dialog title={texts.agents.invite} onClose={onClose}>
      <Form
        action={texts.agents.invite}
        isPending={invite.isPending}
        error={invite.error}
        onSubmit={() => invite.mutate(undefined, { onSuccess: onInvited })}
        onCancel={onClose}
      >
        <TextInput
          label={texts.agents.name}
          required
          maxLength={200}
          data-autofocus
          autoComplete="off"
          value={agent.name}
          onChange={(event) => setAgent({ ...agent, name: event.currentTarget.value })}
          error={faultOf(invite.error, 'name')}
        />
        <TextInput
          label={texts.login.email}
          type="email"
          required
          autoComplete="off"
          value={agent.email}
          onChange={(event) => setAgent({ ...agent, email: event.currentTarget.value })}
          error={faultOf(invite.error, 'email')}
        />
        <NativeSelect
          label={texts.agents.role}
          description={texts.agents.roleAbout[agent.role]}
          value={agent.role}
          onChange={(event) => setAgent({ ...agent, role: event.currentTarget.value as AgentRole })}
          data={roles.map((role) => ({ value: role, label: texts.roles[role] }))}
          error={faultOf(invite.error, 'role')}
        />
      </Form>
    </Dialog>
  );
}
