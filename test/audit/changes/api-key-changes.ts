import { ApiKeysService } from '../../../src/auth/api-keys.service';
import { MessagingHost } from '../../support/messaging-host';
import { Scenario } from './scenario';

const LEAKED = { reason: 'LEAKED' as const };

/** Scenarios that change API keys. */
export function apiKeyChanges(host: () => MessagingHost): Record<string, Scenario> {
  const keys = () => host().get(ApiKeysService);
  return {
    'api_key.created': {
      method: 'ApiKeysService.create',
      permission: 'api_key.create',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          const { id } = await keys().create(workspace.id, { name: 'CRM', scopes: ['contacts:read'] }, actor);
          const after = { name: 'CRM', scopes: ['contacts:read'], expiresAt: null, allowedNetworks: null };
          return { entity: 'api_key', entityId: id, after };
        },
    },
    'api_key.revoked': {
      method: 'ApiKeysService.revoke',
      permission: 'api_key.revoke',
      prepare: async ({ workspace }, actor) => {
        const { id } = await host().make.apiKey(workspace);
        return async () => {
          const { revokedAt } = await keys().revoke(workspace.id, id, LEAKED, actor);
          const changed = { before: { revokedAt: null }, after: { revokedAt: revokedAt!.toISOString() } };
          return {
            entity: 'api_key',
            entityId: id,
            ...changed,
            metadata: { name: 'Test key', reason: 'LEAKED' },
          };
        };
      },
    },
    'api_key.revoked, of an agent': {
      method: 'ApiKeysService.revokeByCreator',
      permission: 'api_key.revoke',
      prepare: async ({ workspace }, actor) => {
        const { id: agentId } = await host().make.agent(workspace, { active: true, role: 'ADMIN' });
        const given = { name: 'CRM', scopes: ['contacts:read' as const] };
        const { id } = await keys().create(workspace.id, given, { type: 'agent', id: agentId });
        return async () => {
          const [revoked, ...others] = await keys().revokeByCreator(workspace.id, agentId, LEAKED, actor);
          expect(others).toEqual([]);
          const changed = {
            before: { revokedAt: null },
            after: { revokedAt: revoked!.revokedAt!.toISOString() },
          };
          return { entity: 'api_key', entityId: id, ...changed, metadata: { name: 'CRM', reason: 'LEAKED' } };
        };
      },
    },
  };
}
