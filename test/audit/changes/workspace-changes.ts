import { newId } from '../../../src/common/ids';
import { Permission } from '../../../src/access/permissions';
import { SYSTEM } from '../../../src/access/principal';
import { KeyRotationService } from '../../../src/secrets/key-rotation.service';
import { SecondFactorDemandsService } from '../../../src/logins/second-factor/second-factor-demands.service';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { WorkspacesService } from '../../../src/workspaces/workspaces.service';
import { MessagingHost } from '../../support/messaging-host';
import { Logins } from '../../support/logins';
import { Scenario } from './scenario';

/**
 * Scenarios that change a workspace itself, and the keys that encrypt its secrets. `rekeyed` encrypts with
 * another key than `host`.
 */
export function workspaceChanges(
  host: () => MessagingHost,
  rekeyed: () => MessagingHost,
): Record<string, Scenario> {
  const workspaces = () => host().get(WorkspacesService);
  const demands = () => host().get(SecondFactorDemandsService);
  /** Gives an active agent of the workspace a login with a second factor. */
  const secureAgent = async (workspace: { id: string }, id: string) => {
    const agent = (await host().get(AgentsService).list(workspace.id, SYSTEM)).find((one) => one.id === id);
    const logins = new Logins(host());
    if (agent?.active) await logins.secure(await logins.accept(workspace, agent));
  };
  const updateWorkspace = (
    input: Parameters<WorkspacesService['update']>[1],
    before: Record<string, unknown>,
    permission: Permission = 'workspace.change_plan',
  ): Scenario => ({
    method: 'WorkspacesService.update',
    permission,
    prepare:
      ({ workspace }, actor) =>
      async () => {
        await workspaces().update(workspace.id, input, actor);
        const after = JSON.parse(JSON.stringify(input)) as Record<string, unknown>;
        return { entity: 'workspace', entityId: workspace.id, before, after };
      },
  });
  return {
    'workspace.created': {
      method: 'WorkspacesService.create',
      permission: null,
      prepare: (_, actor) => async () => {
        const slug = `made-${newId()}`;
        const given = { name: 'Made', slug, planTier: 'PRO' as const };
        const { id } = await workspaces().create(given, actor);
        const after = {
          ...given,
          trialEndsAt: null,
          rateLimit: null,
          messageRetentionDays: null,
          entitlements: [],
        };
        return { tenantId: id, entity: 'workspace', entityId: id, after };
      },
    },
    'workspace.plan_changed': updateWorkspace({ planTier: 'STARTER' }, { planTier: 'PRO' }),
    'workspace.rate_limit_changed': updateWorkspace({ rateLimit: 500 }, { rateLimit: null }),
    'workspace.message_retention_changed, to keep less': {
      method: 'WorkspacesService.update',
      permission: 'workspace.shorten_retention',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          await workspaces().update(workspace.id, { messageRetentionDays: 365 }, actor);
          const [before, after] = [{ messageRetentionDays: null }, { messageRetentionDays: 365 }];
          return { entity: 'workspace', entityId: workspace.id, before, after };
        },
    },
    'workspace.message_retention_changed, to keep more': {
      method: 'WorkspacesService.update',
      permission: 'workspace.update',
      prepare: async ({ workspace }, actor) => {
        await workspaces().update(workspace.id, { messageRetentionDays: 365 }, SYSTEM);
        return async () => {
          await workspaces().update(workspace.id, { messageRetentionDays: null }, actor);
          const [before, after] = [{ messageRetentionDays: 365 }, { messageRetentionDays: null }];
          return { entity: 'workspace', entityId: workspace.id, before, after };
        };
      },
    },
    'workspace.trial_changed': updateWorkspace(
      { trialEndsAt: new Date('2031-01-01T00:00:00Z') },
      { trialEndsAt: null },
    ),
    'workspace.entitlements_changed': updateWorkspace(
      { entitlements: ['auditWebhookExport'] },
      { entitlements: [] },
    ),
    'workspace.second_factor_demanded': {
      method: 'SecondFactorDemandsService.demand',
      permission: 'workspace.demand_second_factor',
      prepare: async ({ workspace }, actor) => {
        if (actor.type === 'agent') await secureAgent(workspace, actor.id);
        await demands().demand(workspace.id, {}, SYSTEM);
        return async () => {
          await demands().demand(workspace.id, { graceDays: 30 }, actor);
          const [before, after] = [{ graceDays: 7 }, { graceDays: 30 }];
          return { entity: 'workspace', entityId: workspace.id, before, after };
        };
      },
    },
    'workspace.second_factor_demand_ended': {
      method: 'SecondFactorDemandsService.endDemand',
      permission: 'workspace.demand_second_factor',
      prepare: async ({ workspace }, actor) => {
        await demands().demand(workspace.id, {}, SYSTEM);
        return async () => {
          await demands().endDemand(workspace.id, actor);
          return { entity: 'workspace', entityId: workspace.id, before: { graceDays: 7 } };
        };
      },
    },
    'workspace.suspended': {
      method: 'WorkspacesService.suspend',
      permission: 'workspace.suspend',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          const { suspendedAt } = await workspaces().suspend(workspace.id, actor);
          const after = { suspendedAt: suspendedAt!.toISOString() };
          return { entity: 'workspace', entityId: workspace.id, before: { suspendedAt: null }, after };
        },
    },
    'workspace.resumed': {
      method: 'WorkspacesService.resume',
      permission: 'workspace.resume',
      prepare: async ({ workspace }, actor) => {
        const { suspendedAt } = await workspaces().suspend(workspace.id, SYSTEM);
        return async () => {
          await workspaces().resume(workspace.id, actor);
          const before = { suspendedAt: suspendedAt!.toISOString() };
          return { entity: 'workspace', entityId: workspace.id, before, after: { suspendedAt: null } };
        };
      },
    },
    'workspace.deletion_scheduled': {
      method: 'WorkspacesService.delete',
      permission: 'workspace.delete',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          await workspaces().delete(workspace.id, { graceDays: 7 }, actor);
          return { entity: 'workspace', entityId: workspace.id, metadata: { graceDays: 7 } };
        },
    },
    'workspace.deletion_cancelled': {
      method: 'WorkspacesService.cancelDeletion',
      permission: 'workspace.cancel_deletion',
      prepare: async ({ workspace }, actor) => {
        await workspaces().delete(workspace.id, {}, SYSTEM);
        return async () => {
          await workspaces().cancelDeletion(workspace.id, actor);
          return { entity: 'workspace', entityId: workspace.id };
        };
      },
    },
    'workspace.secrets_reencrypted': {
      method: 'KeyRotationService.reencrypt',
      permission: null,
      prepare:
        ({ workspace }, actor) =>
        async () => {
          await rekeyed().get(KeyRotationService).reencrypt(actor);
          const metadata = { of: 'webhook_endpoints', count: 1 };
          return { entity: 'workspace', entityId: workspace.id, metadata };
        },
    },
  };
}
