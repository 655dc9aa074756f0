import { Permission } from '../../../src/access/permissions';
import { SYSTEM } from '../../../src/access/principal';
import { AgentErasuresService } from '../../../src/logins/agent-erasures.service';
import { InvitationsService } from '../../../src/logins/invitations/invitations.service';
import { PasswordsService } from '../../../src/logins/passwords/passwords.service';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { MessagingHost } from '../../support/messaging-host';
import { Logins } from '../../support/logins';
import { Scenario } from './scenario';

/** Scenarios that change agents, and the invitations and passwords that others give them. */
export function agentChanges(host: () => MessagingHost): Record<string, Scenario> {
  const agents = () => host().get(AgentsService);
  const updateAgent = (
    permission: Permission,
    input: Parameters<AgentsService['create']>[1] | object,
    before: object,
    after: object,
  ): Scenario => ({
    method: 'AgentsService.update',
    permission,
    prepare: async ({ workspace }, actor) => {
      const { id } = await host().make.agent(workspace, input);
      return async () => {
        await agents().update(workspace.id, id, after, actor);
        return { entity: 'agent', entityId: id, before: { ...before }, after: { ...after } };
      };
    },
  });
  const logins = () => new Logins(host());
  return {
    'agent.created': {
      method: 'AgentsService.create',
      permission: 'agent.create',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          const input = { name: 'Ben', email: 'ben@example.com', role: 'AGENT' as const };
          const { id } = await agents().create(workspace.id, input, actor);
          return {
            entity: 'agent',
            entityId: id,
            after: { displayName: null, role: 'AGENT', isBot: false, active: true },
          };
        },
    },
    'agent.role_changed': updateAgent(
      'agent.update',
      { role: 'AGENT' },
      { role: 'AGENT' },
      { role: 'ADMIN' },
    ),
    'agent.display_name_changed': updateAgent(
      'agent.update',
      { role: 'AGENT', displayName: 'Ana' },
      { displayName: 'Ana' },
      { displayName: null },
    ),
    'agent.renamed': {
      method: 'AgentsService.update',
      permission: 'agent.update',
      prepare: async ({ workspace }, actor) => {
        const { id } = await host().make.agent(workspace, { role: 'AGENT' });
        return async () => {
          await agents().update(workspace.id, id, { name: 'Ada Byron' }, actor);
          return { entity: 'agent', entityId: id };
        };
      },
    },
    'agent.erased': {
      method: 'AgentErasuresService.erase',
      permission: 'agent.erase',
      prepare: async ({ workspace }, actor) => {
        const { agent } = await logins().member(workspace, { role: 'AGENT' });
        await agents().update(workspace.id, agent.id, { active: false }, SYSTEM);
        return async () => {
          await host().get(AgentErasuresService).erase(workspace.id, agent.id, actor);
          return { entity: 'agent', entityId: agent.id };
        };
      },
    },
    'agent.deactivated': updateAgent('agent.update', { role: 'AGENT' }, { active: true }, { active: false }),
    'agent.activated': updateAgent(
      'agent.update',
      { role: 'AGENT', active: false },
      { active: false },
      { active: true },
    ),
    'agent.invited': {
      method: 'InvitationsService.invite',
      permission: 'agent.invite',
      prepare: async ({ workspace }, actor) => {
        const { id } = await host().make.agent(workspace, { role: 'AGENT' });
        return async () => {
          await host().get(InvitationsService).invite(workspace.id, id, {}, actor);
          return { entity: 'agent', entityId: id };
        };
      },
    },
    'agent.invitation_revoked': {
      method: 'InvitationsService.revoke',
      permission: 'agent.invite',
      prepare: async ({ workspace }, actor) => {
        const invitations = host().get(InvitationsService);
        const agent = await host().make.agent(workspace, { role: 'AGENT' });
        const { invitation } = await invitations.invite(workspace.id, agent.id, {}, SYSTEM);
        return async () => {
          await invitations.revoke(workspace.id, invitation.id, actor);
          return { entity: 'agent', entityId: agent.id };
        };
      },
    },
    'agent.password_reset_sent': {
      method: 'PasswordsService.sendReset',
      permission: 'agent.reset_password',
      prepare: async ({ workspace }, actor) => {
        const { agent } = await logins().member(workspace, { role: 'AGENT' });
        return async () => {
          await host().get(PasswordsService).sendReset(workspace.id, agent.id, actor);
          return { entity: 'agent', entityId: agent.id };
        };
      },
    },
  };
}
