import { newId } from '../../../../src/common/ids';
import { Permission } from '../../../../src/common/permissions';
import { SYSTEM } from '../../../../src/common/principal';
import { KeyRotationService } from '../../../../src/secrets/key-rotation.service';
import { WorkspacesService } from '../../../../src/workspaces/workspaces.service';
import { MessagingHost } from '../../../support/messaging-host';
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
    'workspace.message_retention_changed': updateWorkspace(
      { messageRetentionDays: 365 },
      { messageRetentionDays: null },
      'workspace.update',
    ),
    'workspace.trial_changed': updateWorkspace(
      { trialEndsAt: new Date('2031-01-01T00:00:00Z') },
      { trialEndsAt: null },
    ),
    'workspace.entitlements_changed': updateWorkspace(
      { entitlements: ['auditWebhookExport'] },
      { entitlements: [] },
    ),
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
