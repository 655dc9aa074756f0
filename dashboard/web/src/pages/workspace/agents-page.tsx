import { ActionIcon, Badge, Button, Group, Stack, Text } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useState } from 'react';
import { api } from '../../api/client';
import type { Agent, Invitation, Page, SentLink } from '../../api/types';
import { useChange, useMayManage, useRead, useWorkspace } from '../../api/workspace';
import { type Column, DataTable } from '../../common/data-table';
import { ErrorNotice } from '../../common/error-notice';
import { MenuButton } from '../../common/menu-button';
import { Moment } from '../../common/moment';
import { PageLayout } from '../../common/page';
import { useTexts } from '../../i18n/locale';
import type { Texts } from '../../i18n/texts-en';
import { EditAgentDialog } from './edit-agent-dialog';
import { EraseAgentDialog } from './erase-agent-dialog';
import { InviteDialog } from './invite-dialog';
import { SentLinkDialog } from './sent-link-dialog';

export function AgentsPage() {
  const texts = useTexts();
  const mayManage = useMayManage();
  const { role } = useWorkspace();
  const agents = useRead<{ data: Agent[] }>('agents');
  const invitations = useRead<{ data: Invitation[] }>('invitations', {}, { isEnabled: mayManage });
  const secured = useRead<Page<string>>('second-factor-demand/fulfilling', {}, { isEnabled: mayManage });
  const [isInviting, setInviting] = useState(false);
  const [editing, setEditing] = useState<Agent | null>(null);
  const [erasing, setErasing] = useState<Agent | null>(null);
  const [sent, setSent] = useState<{ link: SentLink; agentName: string } | null>(null);
  const invitationOf = (agent: Agent) => invitations.data?.data.find(({ agentId }) => agentId === agent.id);

  const columns: Column<Agent>[] = [
    {
      header: texts.agents.name,
      cell: (agent) => (
        <Group gap="xs">
          <Text inherit fw={500} {...(!agent.active && { c: 'dimmed' })}>
            {agent.isErased ? texts.agents.erasedName : agent.name}
          </Text>
          <AgentState agent={agent} invitation={invitationOf(agent)} />
        </Group>
      ),
    },
    { header: texts.login.email, cell: ({ email, isErased }) => (isErased ? '–' : email) },
    { header: texts.agents.role, cell: ({ role }) => texts.roles[role] },
    ...(secured.data ? [secondFactorColumn(texts, secured.data.data)] : []),
    { header: texts.agents.displayName, cell: ({ displayName }) => displayName ?? '–' },
    { header: texts.agents.since, cell: ({ createdAt }) => <Moment at={createdAt} /> },
    {
      header: texts.common.actions,
      isActions: true,
      cell: (agent) =>
        mayManage &&
        !agent.isErased &&
        (agent.role !== 'OWNER' || role === 'OWNER') && (
          <AgentMenu
            agent={agent}
            invitation={invitationOf(agent)}
            onEdit={() => setEditing(agent)}
            onErase={() => setErasing(agent)}
            onSent={(link) => setSent({ link, agentName: agent.name })}
          />
        ),
    },
  ];
  return (
    <PageLayout
      title={texts.agents.title}
      about={texts.agents.about}
      actions={mayManage && <Button onClick={() => setInviting(true)}>{texts.agents.invite}</Button>}
    >
      <DataTable
        name={texts.agents.title}
        query={agents}
        columns={columns}
        rowKey={({ id }) => id}
        empty={<Text>{texts.agents.none}</Text>}
      />
      {isInviting && (
        <InviteDialog
          onClose={() => setInviting(false)}
          onInvited={(invited) => {
            setInviting(false);
            setSent({ link: invited, agentName: invited.agent.name });
          }}
        />
      )}
      {editing && <EditAgentDialog agent={editing} onClose={() => setEditing(null)} />}
      {erasing && <EraseAgentDialog agent={erasing} onClose={() => setErasing(null)} />}
      {sent && <SentLinkDialog sent={sent.link} agentName={sent.agentName} onClose={() => setSent(null)} />}
    </PageLayout>
  );
}

function secondFactorColumn({ secondFactor }: Texts, secured: string[]): Column<Agent> {
  return {
    header: secondFactor.title,
    cell: ({ id, isBot }) => {
      if (isBot) return '–';
      return secured.includes(id) ? secondFactor.isOn : secondFactor.isOff;
    },
  };
}

function AgentState({ agent, invitation }: { agent: Agent; invitation: Invitation | undefined }) {
  const texts = useTexts();
  const { agentId } = useWorkspace();
  return (
    <>
      {agent.id === agentId && <Badge variant="default">{texts.agents.you}</Badge>}
      {agent.isBot && <Badge variant="default">{texts.agents.bot}</Badge>}
      {!agent.active && <Badge color="gray">{texts.agents.inactive}</Badge>}
      {invitation && <Badge color="yellow">{texts.agents.invited}</Badge>}
    </>
  );
}

function AgentMenu({
  agent,
  invitation,
  onEdit,
  onErase,
  onSent,
}: {
  agent: Agent;
  invitation: Invitation | undefined;
  onEdit: () => void;
  onErase: () => void;
  onSent: (sent: SentLink) => void;
}) {
  const texts = useTexts();
  const { role } = useWorkspace();
  const invite = useChange((at) => api.post<SentLink>(`${at}/agents/${agent.id}/invitation`));
  const reset = useChange((at) => api.post<SentLink>(`${at}/agents/${agent.id}/password-reset`));
  const revoke = useChange(
    (at, id: string) => api.delete(`${at}/invitations/${id}`),
    texts.agents.invitationRevoked,
  );
  const error = invite.error ?? reset.error ?? revoke.error;
  return (
    <Stack gap="xs" align="end">
      <MenuButton
        position="bottom-end"
        button={
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={texts.agents.menuOf(agent.name)}
            loading={invite.isPending || reset.isPending || revoke.isPending}
          >
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        }
      >
        {(menu) => (
          <>
            <menu.Item onClick={onEdit}>{texts.agents.edit}</menu.Item>
            {agent.active && !agent.isBot && (
              <>
                <menu.Item onClick={() => invite.mutate(undefined, { onSuccess: onSent })}>
                  {texts.agents.inviteAgain}
                </menu.Item>
                <menu.Item onClick={() => reset.mutate(undefined, { onSuccess: onSent })}>
                  {texts.agents.resetPassword}
                </menu.Item>
              </>
            )}
            {invitation && (
              <menu.Item color="red" onClick={() => revoke.mutate(invitation.id)}>
                {texts.agents.revokeInvitation}
              </menu.Item>
            )}
            {!agent.active && role === 'OWNER' && (
              <menu.Item color="red" onClick={onErase}>
                {texts.agents.erase}
              </menu.Item>
            )}
          </>
        )}
      </MenuButton>
      <ErrorNotice error={error} />
    </Stack>
  );
}
