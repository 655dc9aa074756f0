import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { Permission, PERMISSIONS } from '../../../src/access/permissions';
import { AuditService } from '../../../src/audit/audit.service';
import { ApiKeysService } from '../../../src/auth/api-keys.service';
import { ChannelConnectionsService } from '../../../src/channels/connections/channel-connections.service';
import { ConnectionLoader, LoadedConnection } from '../../../src/channels/connections/connection.loader';
import { ConnectionRegistration } from '../../../src/channels/connections/connection-registration';
import { buildProgram } from '../../../src/cli/program';
import { AgentRole } from '../../../src/common/agent-role';
import { newId } from '../../../src/common/ids';
import { Actor, actorIdOf, Origin, SYSTEM } from '../../../src/common/principal';
import { ConversationsService } from '../../../src/conversations/conversations.service';
import { Database } from '../../../src/database/database';
import { AcceptancesService } from '../../../src/logins/acceptances.service';
import { AgentPasswordsService } from '../../../src/logins/agent-passwords.service';
import { InvitationsService } from '../../../src/logins/invitations.service';
import { SecondFactorRequired } from '../../../src/logins/login.dto';
import { LoginSessionsService } from '../../../src/logins/login-sessions.service';
import { LoginsService } from '../../../src/logins/logins.service';
import { OperatorLoginsService } from '../../../src/logins/operator-logins.service';
import { OperatorSessionsService } from '../../../src/logins/operator-sessions.service';
import { PasswordResetsService } from '../../../src/logins/password-resets.service';
import { PasswordsService } from '../../../src/logins/passwords.service';
import { SecondFactorsService } from '../../../src/logins/second-factors.service';
import { MessagesService } from '../../../src/messages/messages.service';
import { ParkedEventKey } from '../../../src/outbox/parked-events.repository';
import { ParkedEventsService } from '../../../src/parked-events/parked-events.service';
import { ContactErasuresService } from '../../../src/privacy/contact-erasures.service';
import { ContactExportService } from '../../../src/privacy/contact-export.service';
import { KeyRotationService } from '../../../src/secrets/key-rotation.service';
import { WebhookDeliveriesService } from '../../../src/webhooks/browsing/webhook-deliveries.service';
import { WebhookTestService } from '../../../src/webhooks/browsing/webhook-test.service';
import { WebhookEndpointsService } from '../../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookRedeliveriesService } from '../../../src/webhooks/recoveries/webhook-redeliveries.service';
import { WebhookRecoveriesService } from '../../../src/webhooks/recoveries/webhook-recoveries.service';
import { AgentsService } from '../../../src/workspaces/agents.service';
import { WorkspacesService } from '../../../src/workspaces/workspaces.service';
import { Dashboard } from '../../support/dashboard';
import { codeOf, Logins, OTHER_PASSWORD, PASSWORD, tokenOf } from '../../support/logins';
import { nameOf, WRITES } from '../../support/routes';
import { serviceMethods } from '../../support/service-methods';
import { subscribe, Subscription } from '../../support/webhook-workspace';

/** An entry as it must be. What is left out is null, or `{}` for the metadata. */
interface Expected {
  /** When it is not the subject's. */
  tenantId?: string;
  entity: string;
  entityId: string;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  metadata?: Record<string, unknown>;
}

type Act = () => Promise<Expected>;

interface Scenario {
  /** The method of a service that makes the change. */
  method: string;
  /** What it requires of agents and keys; null where only the service itself calls it, or only for all workspaces. */
  permission: Permission | null;
  /** Whether only the system does it. */
  isAutomatic?: boolean;
  /** Whether the subject's agent does it to the own login, and nobody else. */
  isPersonal?: boolean;
  /** Prepares what must be there before, and returns what is done then, which returns the entry that must follow. */
  prepare: (subject: Subscription, actor: Actor) => Act | Promise<Act>;
}

/** They change nothing of a workspace. */
const READS = [
  'WorkspacesService.getBySlug',
  'WorkspacesService.getDeletion',
  'AgentsService.list',
  'ApiKeysService.list',
  'RateLimitUseService.list',
  'HealthService.stop',
  'HealthService.ready',
  'WebhookEndpointsService.list',
  'WebhookEndpointsService.get',
  'WebhookEndpointsService.checkUrl',
  'WebhookDeliveriesService.list',
  'WebhookDeliveriesService.get',
  'WebhookDeliveriesService.health',
  'WebhookDeliveriesService.timeline',
  'WebhookDeliveriesService.last24Hours',
  'WebhookRecoveriesService.get',
  'WebhookRecoveriesService.list',
  'ParkedEventsService.list',
  'KeyRotationService.register',
  'KeyRotationService.registerOther',
  'ChannelConnectionsService.list',
  'ChannelConnectionsService.get',
  'ContactsService.list',
  'ContactsService.get',
  'ContactErasuresService.get',
  'ConversationsService.list',
  'ConversationsService.get',
  'MessagesService.list',
  'AuditService.list',
  'AuditService.export',
  'LoginSessionsService.authenticate',
  'LoginSessionsService.list',
  'LoginLinksService.describe',
  'InvitationsService.list',
  'PeopleService.get',
  'OperatorLoginsService.list',
  'OperatorSessionsService.list',
  // It counts for nothing until it is confirmed.
  'SecondFactorsService.begin',
  // Anybody may ask: it is counted.
  'PasswordResetsService.request',
];

/** What customers and agents write to each other, and who they are: it is no configuration, access or status. */
const CONTENT = [
  'ContactsService.create',
  'ContactsService.identify',
  'ContactsService.updateProfile',
  'ConversationsService.create',
  'ConversationsService.continueWith',
  'MessagesService.send',
  'PeopleService.update',
];

/** Which writing method a command of the CLI calls; null for a reading one. */
const COMMANDS: Record<string, string | null> = {
  'workspace create': 'WorkspacesService.create',
  'workspace list': null,
  'workspace update': 'WorkspacesService.update',
  'workspace suspend': 'WorkspacesService.suspend',
  'workspace resume': 'WorkspacesService.resume',
  'workspace cancel-deletion': 'WorkspacesService.cancelDeletion',
  'workspace delete': 'WorkspacesService.delete',
  'workspace deletion': null,
  'workspace deletions': null,
  'agent create': 'AgentsService.create',
  'agent list': null,
  'agent update': 'AgentsService.update',
  'agent invite': 'InvitationsService.invite',
  'login list': null,
  'login reset': 'OperatorLoginsService.sendReset',
  'login end-factor': 'OperatorLoginsService.turnOffSecondFactor',
  'login sessions': null,
  'login revoke': 'OperatorSessionsService.revoke',
  'api-key create': 'ApiKeysService.create',
  'api-key list': null,
  'api-key revoke': 'ApiKeysService.revoke',
  'api-key revoke-all': 'ApiKeysService.revokeAllOf',
  'webhook create': 'WebhookEndpointsService.create',
  'webhook list': null,
  'webhook activate': 'WebhookEndpointsService.activate',
  'webhook deactivate': 'WebhookEndpointsService.deactivate',
  'webhook delete': 'WebhookEndpointsService.delete',
  'webhook roll-secret': 'WebhookEndpointsService.rollSecret',
  'webhook end-secret': 'WebhookEndpointsService.endPreviousSecret',
  'webhook test': 'WebhookTestService.test',
  'webhook deliveries': null,
  'webhook delivery': null,
  'webhook redeliver': 'WebhookDeliveriesService.redeliver',
  'webhook recover': 'WebhookRecoveriesService.start',
  'webhook recovery': null,
  'webhook cancel-recovery': 'WebhookRecoveriesService.cancel',
  'webhook health': null,
  'channel connect': 'ChannelConnectionsService.connect',
  'channel list': null,
  'channel rotate': 'ChannelConnectionsService.rotate',
  'channel disconnect': 'ChannelConnectionsService.disconnect',
  'contact create': 'ContactsService.create',
  'contact erase': 'ContactErasuresService.start',
  'contact erasure': null,
  'contact export': 'ContactExportService.export',
  'conversation create': 'ConversationsService.create',
  'conversation update': 'ConversationsService.update',
  'message receive': 'MessagesService.receive',
  'message send': 'MessagesService.send',
  'audit list': null,
  'audit export': null,
  'outbox parked': null,
  'outbox retry': 'ParkedEventsService.retry',
  'outbox give-up': 'ParkedEventsService.giveUp',
  'secrets reencrypt': 'KeyRotationService.reencrypt',
};
/** It changes no workspace. */
const WITHOUT_SERVICE = ['migrate'];

/** The same of the routes of the REST API. */
const ROUTES: Record<string, string> = {
  'PATCH /api/v1/conversations/:id': 'ConversationsService.update',
  'POST /api/v1/conversations/:id/messages': 'MessagesService.send',
};

/** Of no secret of ours may an entry hold anything. */
const SECRETS = /whsec_|plk_|ciphertext|identitySecret|[0-9a-f]{64}/;

describe('every change of a workspace', () => {
  let dashboard: Dashboard;
  /** With another key that encrypts. */
  let rekeyed: Dashboard;
  let subject: Subscription;

  beforeAll(async () => {
    dashboard = await Dashboard.create();
    const keys = ['new', 'test'].map((id, n) => `${id}:${Buffer.alloc(32, 6 + n).toString('base64')}`);
    rekeyed = await Dashboard.create({ beside: dashboard, secretsKeys: keys.join() });
  });
  afterAll(async () => {
    await rekeyed.close();
    await dashboard.close();
  });
  beforeEach(async () => {
    subject = await subscribe(dashboard, 'https://127.0.0.1:9999/hook');
  });

  const keys = () => dashboard.get(ApiKeysService);
  const agents = () => dashboard.get(AgentsService);
  const endpoints = () => dashboard.get(WebhookEndpointsService);
  const conversations = () => dashboard.get(ConversationsService);
  const workspaces = () => dashboard.get(WorkspacesService);
  const channels = () => dashboard.get(ChannelConnectionsService);
  const transaction: Database['transaction'] = (work) => dashboard.get(Database).transaction(work);

  const rolledValues = (before: Date | null, after: Date | null) => ({
    before: { previousSecretEndsAt: before && before.toISOString() },
    after: { previousSecretEndsAt: after && after.toISOString() },
  });

  const endpointEntry = ({ endpoint }: Subscription, expected: Partial<Expected> = {}): Expected => ({
    entity: 'webhook_endpoint',
    entityId: endpoint.id,
    ...expected,
    metadata: { url: endpoint.url, ...expected.metadata },
  });
  const statusEntry = ({ conversation: { id } }: Subscription, from: string, to: string): Expected => ({
    entity: 'conversation',
    entityId: id,
    before: { status: from },
    after: { status: to },
  });

  const ORIGINS = { allowedOrigins: ['https://shop.example'] };
  const OTHER_ORIGINS = { allowedOrigins: ['https://other.example'] };
  const connectWidget = ({ workspace }: Subscription, actor: Actor = SYSTEM) =>
    channels().connect(workspace.id, { channel: 'WIDGET', credentials: ORIGINS }, actor);
  const load = async ({ workspace }: Subscription, { id }: { id: string }): Promise<LoadedConnection> =>
    (await dashboard.get(ConnectionLoader).byId(workspace.id, id))!;
  const connectionEntry = (
    { id, externalId }: { id: string; externalId: string },
    expected: Partial<Expected>,
  ): Expected => ({
    entity: 'channel_connection',
    entityId: id,
    ...expected,
    metadata: { channel: 'WIDGET', externalId },
  });

  async function park({ workspace }: Subscription): Promise<ParkedEventKey> {
    const key = { tenantId: workspace.id, eventId: newId(), consumer: 'webhooks' };
    await dashboard.query(
      `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at) VALUES ($1, $2, $3, 'x', now())`,
      Object.values(key),
    );
    return key;
  }
  const parkedEntry = ({ eventId, consumer }: ParkedEventKey, request: string): Expected => ({
    entity: 'parked_event',
    entityId: eventId,
    before: { request: null },
    after: { request },
    metadata: { consumer },
  });

  const updateAgent = (
    permission: Permission,
    input: Parameters<AgentsService['create']>[1] | object,
    before: object,
    after: object,
  ): Scenario => ({
    method: 'AgentsService.update',
    permission,
    prepare: async ({ workspace }, actor) => {
      const { id } = await dashboard.make.agent(workspace, input);
      return async () => {
        await agents().update(workspace.id, id, after, actor);
        return { entity: 'agent', entityId: id, before: { ...before }, after: { ...after } };
      };
    },
  });
  const updateWorkspace = (
    input: Parameters<WorkspacesService['update']>[1],
    before: Record<string, unknown>,
  ): Scenario => ({
    method: 'WorkspacesService.update',
    permission: 'workspace.update',
    prepare:
      ({ workspace }, actor) =>
      async () => {
        await workspaces().update(workspace.id, input, actor);
        const after = JSON.parse(JSON.stringify(input)) as Record<string, unknown>;
        return { entity: 'workspace', entityId: workspace.id, before, after };
      },
  });
  const updateConversation = (from: 'OPEN' | 'CLOSED', to: 'OPEN' | 'SNOOZED' | 'CLOSED'): Scenario => ({
    method: 'ConversationsService.update',
    permission: 'conversation.update',
    prepare: async (subject, actor) => {
      const { workspace, conversation } = subject;
      await conversations().update(workspace.id, conversation.id, { status: from }, SYSTEM);
      return async () => {
        await conversations().update(workspace.id, conversation.id, { status: to }, actor);
        return statusEntry(subject, from, to);
      };
    },
  });

  const logins = () => new Logins(dashboard);
  /** The subject's agent, with a login. */
  const memberOf = ({ workspace, agent }: Subscription) => logins().accept(workspace, agent);
  const personal = (
    method: string,
    prepare: (subject: Subscription, origin: Origin | undefined) => Promise<() => Promise<unknown>>,
    metadata?: Record<string, unknown>,
  ): Scenario => ({
    method,
    permission: null,
    isPersonal: true,
    prepare: async (subject, { origin }) => {
      const act = await prepare(subject, origin);
      return async () => {
        await act();
        return { entity: 'agent', entityId: subject.agent.id, ...(metadata && { metadata }) };
      };
    },
  });
  const byOperator = (
    method: string,
    act: (email: string, actor: Actor) => Promise<unknown>,
    metadata?: Record<string, unknown>,
  ): Scenario => ({
    method,
    permission: null,
    prepare: async ({ workspace }, actor) => {
      const { agent, email } = await logins().secure(await logins().member(workspace));
      return async () => {
        await act(email, actor);
        return { entity: 'agent', entityId: agent.id, ...(metadata && { metadata }) };
      };
    },
  });

  /** By the action of the entry. */
  const SCENARIOS: Record<string, Scenario> = {
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
          await rekeyed.get(KeyRotationService).reencrypt(actor);
          const metadata = { of: 'webhook_endpoints', count: 1 };
          return { entity: 'workspace', entityId: workspace.id, metadata };
        },
    },
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
      { displayName: 'Ana' },
      { displayName: 'Ana' },
      { displayName: null },
    ),
    'agent.deactivated': updateAgent('agent.update', { role: 'AGENT' }, { active: true }, { active: false }),
    'agent.activated': updateAgent(
      'agent.update',
      { role: 'AGENT', active: false },
      { active: false },
      { active: true },
    ),
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
        const { id } = await dashboard.make.apiKey(workspace);
        return async () => {
          const { revokedAt } = await keys().revoke(workspace.id, id, actor);
          const changed = { before: { revokedAt: null }, after: { revokedAt: revokedAt!.toISOString() } };
          return { entity: 'api_key', entityId: id, ...changed, metadata: { name: 'Test key' } };
        };
      },
    },
    'api_key.revoked, of an agent': {
      method: 'ApiKeysService.revokeAllOf',
      permission: 'api_key.revoke',
      prepare: async ({ workspace }, actor) => {
        const { id: agentId } = await dashboard.make.agent(workspace, { active: true, role: 'ADMIN' });
        const given = { name: 'CRM', scopes: ['contacts:read' as const] };
        const { id } = await keys().create(workspace.id, given, { type: 'agent', id: agentId });
        return async () => {
          const [revoked, ...others] = await keys().revokeAllOf(workspace.id, agentId, actor);
          expect(others).toEqual([]);
          const changed = {
            before: { revokedAt: null },
            after: { revokedAt: revoked!.revokedAt!.toISOString() },
          };
          return { entity: 'api_key', entityId: id, ...changed, metadata: { name: 'CRM' } };
        };
      },
    },
    'webhook_endpoint.created': {
      method: 'WebhookEndpointsService.create',
      permission: 'webhook_endpoint.create',
      prepare:
        ({ workspace }, actor) =>
        async () => {
          const url = 'https://127.0.0.1:9999/second';
          const { id } = await endpoints().create(workspace.id, { url, events: ['*'] }, actor);
          const after = { url, events: ['*'], rateLimit: null, active: true };
          return { entity: 'webhook_endpoint', entityId: id, after };
        },
    },
    'webhook_endpoint.deactivated': {
      method: 'WebhookEndpointsService.deactivate',
      permission: 'webhook_endpoint.deactivate',
      prepare: (subject, actor) => async () => {
        await endpoints().deactivate(subject.workspace.id, subject.endpoint.id, actor);
        return endpointEntry(subject, { before: { active: true }, after: { active: false } });
      },
    },
    'webhook_endpoint.deactivated, being gone': {
      method: 'WebhookEndpointsService.deactivateAfterFailures',
      permission: null,
      isAutomatic: true,
      prepare: (subject) => async () => {
        await endpoints().deactivateAfterFailures(subject.workspace.id, subject.endpoint.id, 'gone');
        const changed = { before: { active: true }, after: { active: false } };
        return endpointEntry(subject, { ...changed, metadata: { reason: 'gone' } });
      },
    },
    'webhook_endpoint.activated': {
      method: 'WebhookEndpointsService.activate',
      permission: 'webhook_endpoint.activate',
      prepare: async (subject, actor) => {
        await endpoints().deactivate(subject.workspace.id, subject.endpoint.id, SYSTEM);
        return async () => {
          await endpoints().activate(subject.workspace.id, subject.endpoint.id, actor);
          return endpointEntry(subject, { before: { active: false }, after: { active: true } });
        };
      },
    },
    'webhook_endpoint.deleted': {
      method: 'WebhookEndpointsService.delete',
      permission: 'webhook_endpoint.delete',
      prepare: (subject, actor) => async () => {
        await endpoints().delete(subject.workspace.id, subject.endpoint.id, actor);
        const { url, events, rateLimit } = subject.endpoint;
        return endpointEntry(subject, { before: { url, events, rateLimit, active: true } });
      },
    },
    'webhook_endpoint.secret_rolled': {
      method: 'WebhookEndpointsService.rollSecret',
      permission: 'webhook_endpoint.roll_secret',
      prepare: (subject, actor) => async () => {
        const { workspace, endpoint } = subject;
        const input = { serviceSignature: 'new' as const };
        const { previousSecretEndsAt } = await endpoints().rollSecret(
          workspace.id,
          endpoint.id,
          input,
          actor,
        );
        return endpointEntry(subject, { ...rolledValues(null, previousSecretEndsAt), metadata: input });
      },
    },
    'webhook_endpoint.previous_secret_ended': {
      method: 'WebhookEndpointsService.endPreviousSecret',
      permission: 'webhook_endpoint.roll_secret',
      prepare: async (subject, actor) => {
        const { workspace, endpoint } = subject;
        const { previousSecretEndsAt } = await endpoints().rollSecret(workspace.id, endpoint.id, {}, SYSTEM);
        return async () => {
          await endpoints().endPreviousSecret(workspace.id, endpoint.id, actor);
          return endpointEntry(subject, rolledValues(previousSecretEndsAt, null));
        };
      },
    },
    'webhook_endpoint.tested': {
      method: 'WebhookTestService.test',
      permission: 'webhook_endpoint.test',
      prepare: (subject, actor) => async () => {
        await dashboard.get(WebhookTestService).test(subject.workspace.id, subject.endpoint.id, actor);
        return endpointEntry(subject);
      },
    },
    'webhook_endpoint.recovery_started': {
      method: 'WebhookRecoveriesService.start',
      permission: 'webhook_endpoint.recover',
      prepare: (subject, actor) => async () => {
        const since = new Date('2026-01-01T00:00:00Z');
        const { workspace, endpoint } = subject;
        const recoveries = dashboard.get(WebhookRecoveriesService);
        const { id, total } = await recoveries.start(workspace.id, endpoint.id, { since }, actor);
        return endpointEntry(subject, { metadata: { recoveryId: id, since: since.toISOString(), total } });
      },
    },
    'webhook_endpoint.redelivery_started': {
      method: 'WebhookRedeliveriesService.start',
      permission: 'webhook_delivery.redeliver',
      prepare: (subject, actor) => async () => {
        const { workspace, endpoint } = subject;
        const redeliveries = dashboard.get(WebhookRedeliveriesService);
        const filter = { endpointId: endpoint.id, status: 'exhausted' as const, statusCode: '5xx' };
        const { id, total } = await redeliveries.start(workspace.id, filter, {}, actor);
        return endpointEntry(subject, { metadata: { recoveryId: id, filter, total } });
      },
    },
    'webhook_endpoint.recovery_cancelled': {
      method: 'WebhookRecoveriesService.cancel',
      permission: 'webhook_endpoint.recover',
      prepare: async (subject, actor) => {
        const { workspace, endpoint } = subject;
        const recoveries = dashboard.get(WebhookRecoveriesService);
        const { id } = await recoveries.start(workspace.id, endpoint.id, { since: new Date(0) }, SYSTEM);
        return async () => {
          await recoveries.cancel(workspace.id, id!, actor);
          return endpointEntry(subject, { metadata: { recoveryId: id, recovered: 0 } });
        };
      },
    },
    'webhook_delivery.redelivered': {
      method: 'WebhookDeliveriesService.redeliver',
      permission: 'webhook_delivery.redeliver',
      prepare: async ({ workspace, endpoint }, actor) => {
        await dashboard.get(WebhookTestService).test(workspace.id, endpoint.id, SYSTEM);
        const deliveries = dashboard.get(WebhookDeliveriesService);
        const [delivery] = (await deliveries.list(workspace.id)).data;
        return async () => {
          await deliveries.redeliver(workspace.id, delivery!.id, actor);
          const metadata = { endpointId: endpoint.id, event: 'webhook.test' };
          return { entity: 'webhook_delivery', entityId: delivery!.id, metadata };
        };
      },
    },
    'parked_event.retry_requested': {
      method: 'ParkedEventsService.retry',
      permission: 'parked_event.retry',
      prepare: async (subject, actor) => {
        const key = await park(subject);
        return async () => {
          await dashboard.get(ParkedEventsService).retry(key, actor);
          return parkedEntry(key, 'RETRY');
        };
      },
    },
    'parked_event.give_up_requested': {
      method: 'ParkedEventsService.giveUp',
      permission: 'parked_event.give_up',
      prepare: async (subject, actor) => {
        const key = await park(subject);
        return async () => {
          await dashboard.get(ParkedEventsService).giveUp(key, actor);
          return parkedEntry(key, 'GIVE_UP');
        };
      },
    },
    'channel_connection.connected': {
      method: 'ChannelConnectionsService.connect',
      permission: 'channel_connection.connect',
      prepare: (subject, actor) => async () => {
        const connected = await connectWidget(subject, actor);
        const after = { settings: ORIGINS, status: 'ACTIVE', credentialsExpireAt: null };
        return connectionEntry(connected, { after });
      },
    },
    'channel_connection.rotated': {
      method: 'ChannelConnectionsService.rotate',
      permission: 'channel_connection.rotate',
      prepare: async (subject, actor) => {
        const connected = await connectWidget(subject);
        return async () => {
          await channels().rotate(subject.workspace.id, connected.id, OTHER_ORIGINS, actor);
          const changed = { before: { settings: ORIGINS }, after: { settings: OTHER_ORIGINS } };
          return connectionEntry(connected, changed);
        };
      },
    },
    'channel_connection.renewed': {
      method: 'ChannelConnectionsService.renew',
      permission: null,
      isAutomatic: true,
      prepare: async (subject) => {
        const connected = await connectWidget(subject);
        const connection = await load(subject, connected);
        const checked = dashboard.get(ConnectionRegistration).check('WIDGET', ORIGINS, connection);
        const expireAt = new Date('2031-01-01T00:00:00Z');
        return async () => {
          await transaction((tx) => channels().renew(tx, connection, { ...checked, expireAt }));
          const changed = {
            before: { credentialsExpireAt: null },
            after: { credentialsExpireAt: expireAt.toISOString() },
          };
          return connectionEntry(connected, changed);
        };
      },
    },
    'channel_connection.reauth_required': {
      method: 'ChannelConnectionsService.markReauthRequired',
      permission: null,
      isAutomatic: true,
      prepare: async (subject) => {
        const connected = await connectWidget(subject);
        const connection = await load(subject, connected);
        return async () => {
          await transaction((tx) => channels().markReauthRequired(tx, connection));
          const changed = { before: { status: 'ACTIVE' }, after: { status: 'REAUTH_REQUIRED' } };
          return connectionEntry(connected, changed);
        };
      },
    },
    'channel_connection.disconnected': {
      method: 'ChannelConnectionsService.disconnect',
      permission: 'channel_connection.disconnect',
      prepare: async (subject, actor) => {
        const connected = await connectWidget(subject);
        return async () => {
          await channels().disconnect(subject.workspace.id, connected.id, actor);
          const changed = { before: { status: 'ACTIVE' }, after: { status: 'DISCONNECTED' } };
          return connectionEntry(connected, changed);
        };
      },
    },
    'contact.erasure_started': {
      method: 'ContactErasuresService.start',
      permission: 'contact.erase',
      prepare:
        ({ workspace, conversation: { contact } }, actor) =>
        async () => {
          const { id } = await dashboard.get(ContactErasuresService).start(workspace.id, contact.id, actor);
          return { entity: 'contact', entityId: contact.id, metadata: { erasureId: id } };
        },
    },
    'contact.exported': {
      method: 'ContactExportService.export',
      permission: 'contact.export',
      prepare:
        ({ workspace, conversation: { contact } }, actor) =>
        async () => {
          await dashboard.get(ContactExportService).export(workspace.id, contact.id, actor).next();
          return { entity: 'contact', entityId: contact.id };
        },
    },
    'conversation.assigned': {
      method: 'ConversationsService.update',
      permission: 'conversation.update',
      prepare:
        ({ workspace, conversation, agent }, actor) =>
        async () => {
          await conversations().update(workspace.id, conversation.id, { assignedAgentId: agent.id }, actor);
          const changed = { before: { assignedAgentId: null }, after: { assignedAgentId: agent.id } };
          return { entity: 'conversation', entityId: conversation.id, ...changed };
        },
    },
    'conversation.snoozed': updateConversation('OPEN', 'SNOOZED'),
    'conversation.closed': updateConversation('OPEN', 'CLOSED'),
    'conversation.reopened': updateConversation('CLOSED', 'OPEN'),
    'conversation.reopened, by its customer': {
      method: 'MessagesService.receive',
      permission: null,
      isAutomatic: true,
      prepare: async (subject) => {
        const { workspace, conversation } = subject;
        await conversations().update(workspace.id, conversation.id, { status: 'SNOOZED' }, SYSTEM);
        return async () => {
          await dashboard.get(MessagesService).receive(workspace.id, conversation.id, { body: 'Hello?' });
          return statusEntry(subject, 'SNOOZED', 'OPEN');
        };
      },
    },
    'agent.invited': {
      method: 'InvitationsService.invite',
      permission: 'agent.invite',
      prepare: async ({ workspace }, actor) => {
        const { id } = await dashboard.make.agent(workspace, { role: 'AGENT' });
        return async () => {
          await dashboard.get(InvitationsService).invite(workspace.id, id, {}, actor);
          return { entity: 'agent', entityId: id };
        };
      },
    },
    'agent.invitation_revoked': {
      method: 'InvitationsService.revoke',
      permission: 'agent.invite',
      prepare: async ({ workspace }, actor) => {
        const invitations = dashboard.get(InvitationsService);
        const agent = await dashboard.make.agent(workspace, { role: 'AGENT' });
        const { invitation } = await invitations.invite(workspace.id, agent.id, {}, SYSTEM);
        return async () => {
          await invitations.revoke(workspace.id, invitation.id, actor);
          return { entity: 'agent', entityId: agent.id };
        };
      },
    },
    'agent.password_reset_sent': {
      method: 'AgentPasswordsService.sendReset',
      permission: 'agent.reset_password',
      prepare: async ({ workspace }, actor) => {
        const { agent } = await logins().member(workspace, { role: 'AGENT' });
        return async () => {
          await dashboard.get(AgentPasswordsService).sendReset(workspace.id, agent.id, actor);
          return { entity: 'agent', entityId: agent.id };
        };
      },
    },
    'agent.invitation_accepted': personal(
      'AcceptancesService.accept',
      async ({ workspace, agent }, origin) => {
        const token = await logins().invite(workspace, agent);
        return () => dashboard.get(AcceptancesService).accept(token, { password: PASSWORD }, origin);
      },
    ),
    'agent.invitation_accepted, under a login that there is': personal(
      'AcceptancesService.join',
      async ({ workspace, agent }, origin) => {
        const elsewhere = await dashboard.make.workspace();
        const { caller } = await logins().member(elsewhere, { email: agent.email });
        const token = await logins().invite(workspace, agent);
        return () => dashboard.get(AcceptancesService).join(token, { ...caller, origin });
      },
    ),
    'agent.logged_in': personal('LoginsService.logIn', async (subject, origin) => {
      const { email } = await memberOf(subject);
      return () => dashboard.get(LoginsService).logIn({ email, password: PASSWORD }, origin);
    }),
    'agent.logged_in, with a code': personal('LoginsService.confirmSecondFactor', async (subject, origin) => {
      const { email, secret } = await logins().secure(await memberOf(subject));
      const pending = (await logins().logIn({ email })) as SecondFactorRequired;
      const { pendingToken } = pending;
      return () =>
        dashboard.get(LoginsService).confirmSecondFactor({ pendingToken, code: codeOf(secret) }, origin);
    }),
    'agent.recovery_code_used': personal('LoginsService.confirmSecondFactor', async (subject, origin) => {
      const { email, recoveryCodes } = await logins().secure(await memberOf(subject));
      const { pendingToken } = (await logins().logIn({ email })) as SecondFactorRequired;
      const code = recoveryCodes[0]!;
      return () => dashboard.get(LoginsService).confirmSecondFactor({ pendingToken, code }, origin);
    }),
    'agent.logged_out': personal('LoginSessionsService.logOut', async (subject, origin) => {
      const { caller } = await memberOf(subject);
      return () => dashboard.get(LoginSessionsService).logOut({ ...caller, origin });
    }),
    'agent.session_revoked': personal('LoginSessionsService.revoke', async (subject, origin) => {
      const member = await memberOf(subject);
      const { sessionId } = await logins().session(member);
      return () => dashboard.get(LoginSessionsService).revoke({ ...member.caller, origin }, sessionId);
    }),
    'agent.sessions_revoked': personal(
      'LoginSessionsService.revokeOthers',
      async (subject, origin) => {
        const member = await memberOf(subject);
        await logins().session(member);
        return () => dashboard.get(LoginSessionsService).revokeOthers({ ...member.caller, origin });
      },
      { count: 1 },
    ),
    'agent.password_changed': personal('PasswordsService.change', async (subject, origin) => {
      const { caller } = await memberOf(subject);
      const given = { currentPassword: PASSWORD, newPassword: OTHER_PASSWORD };
      return () => dashboard.get(PasswordsService).change({ ...caller, origin }, given);
    }),
    'agent.password_reset': personal('PasswordResetsService.reset', async (subject, origin) => {
      const { agent } = await memberOf(subject);
      const resets = dashboard.get(AgentPasswordsService);
      const token = tokenOf((await resets.sendReset(subject.workspace.id, agent.id, SYSTEM)).link);
      return () => dashboard.get(PasswordResetsService).reset(token, { password: OTHER_PASSWORD }, origin);
    }),
    'agent.second_factor_turned_on': personal('SecondFactorsService.confirm', async (subject, origin) => {
      const { caller } = await memberOf(subject);
      const factors = dashboard.get(SecondFactorsService);
      const { secret } = await factors.begin(caller, { password: PASSWORD });
      return () => factors.confirm({ ...caller, origin }, { code: codeOf(secret) });
    }),
    'agent.second_factor_turned_off': personal('SecondFactorsService.turnOff', async (subject, origin) => {
      const { caller, secret } = await logins().secure(await memberOf(subject));
      const given = { password: PASSWORD, code: codeOf(secret) };
      return () => dashboard.get(SecondFactorsService).turnOff({ ...caller, origin }, given);
    }),
    'agent.recovery_codes_renewed': personal(
      'SecondFactorsService.newRecoveryCodes',
      async (subject, origin) => {
        const { caller, secret } = await logins().secure(await memberOf(subject));
        const given = { password: PASSWORD, code: codeOf(secret) };
        return () => dashboard.get(SecondFactorsService).newRecoveryCodes({ ...caller, origin }, given);
      },
    ),
    'agent.password_reset_sent, by an operator': byOperator(
      'OperatorLoginsService.sendReset',
      (email, actor) => dashboard.get(OperatorLoginsService).sendReset(email, actor),
    ),
    'agent.second_factor_turned_off, by an operator': byOperator(
      'OperatorLoginsService.turnOffSecondFactor',
      (email, actor) => dashboard.get(OperatorLoginsService).turnOffSecondFactor(email, actor),
    ),
    'agent.sessions_revoked, by an operator': byOperator(
      'OperatorSessionsService.revoke',
      (email, actor) => dashboard.get(OperatorSessionsService).revoke(email, undefined, actor),
      { count: 1 },
    ),
    'agent.logged_in, as a host records it': {
      method: 'AuditService.record',
      permission: 'audit_entry.record',
      prepare:
        ({ workspace, agent }, actor) =>
        async () => {
          const subject = { tenantId: workspace.id, entity: 'agent', entityId: agent.id };
          await dashboard.get(AuditService).record({ ...subject, actor, action: 'agent.logged_in' });
          return subject;
        },
    },
  };
  /** The first scenario of them covers the others, which it calls. */
  const COVERED: Record<string, string> = {
    'WebhookDeliveriesService.redeliverMany': 'WebhookDeliveriesService.redeliver',
    'ConversationsService.reopen': 'MessagesService.receive',
    'MessagesService.receiveInTransaction': 'MessagesService.receive',
    'AuditService.appendPipelined': 'AuditService.record',
  };

  const entries = ({ tenantId }: { tenantId: string }, action: string) =>
    dashboard.query<{ id: string; transaction: string }>(
      `SELECT id, tenant_id AS "tenantId", entity, entity_id AS "entityId", actor_type AS "actorType",
         actor_id AS "actorId", actor_name AS "actorName", address, user_agent AS "userAgent",
         request_id AS "requestId", before, after, metadata, xmin::text AS transaction
       FROM audit_entries WHERE tenant_id = $1 AND action = $2 ORDER BY id`,
      [tenantId, action],
    );
  const events = ({ tenantId }: { tenantId: string }, action: string) =>
    dashboard.query<{ data: object }>(
      `SELECT data, xmin::text AS transaction FROM events
       WHERE tenant_id = $1 AND type = 'audit.event' AND data ->> 'action' = $2 ORDER BY id`,
      [tenantId, action],
    );

  /** Everything that the scenarios change. */
  async function snapshot(): Promise<unknown[]> {
    const tables = ['agents', 'api_keys', 'channel_connections', 'contacts', 'conversations', 'messages'];
    const others = ['audit_entries', 'events', 'parked_events', 'webhook_endpoints', 'webhook_recoveries'];
    const deliveries = [
      'contact_erasures',
      'pending_deliveries',
      'webhook_deliveries',
      'pending_cancellations',
    ];
    const rows = [...tables, ...others, ...deliveries].map((table) =>
      dashboard.query(`SELECT * FROM ${table} t WHERE tenant_id = $1 ORDER BY t::text`, [
        subject.workspace.id,
      ]),
    );
    const ofPeople = [
      'people',
      'memberships',
      'invitations',
      'login_sessions',
      'known_browsers',
      'password_resets',
      'second_factors',
      'recovery_codes',
      'workspaces',
    ].map((table) => dashboard.query(`SELECT * FROM ${table} t ORDER BY t::text`));
    return Promise.all([...rows, ...ofPeople]);
  }

  const origin = { address: '203.0.113.7', userAgent: 'dashboard/2.1', requestId: 'r-1' };
  const ACTORS: Record<string, (agentId: string) => Actor> = {
    'an agent, from somewhere': (id) => ({ type: 'agent', id, origin }),
    'an operator': () => ({ type: 'operator', name: 'lin' }),
    'the system': () => SYSTEM,
  };

  describe.each(Object.entries(SCENARIOS))('%s', (name, scenario) => {
    const { prepare, permission, isAutomatic, isPersonal } = scenario;
    const [action] = name.split(',') as [string];
    const actors = Object.keys(ACTORS).filter((actor) => {
      if (isAutomatic) return actor === 'the system';
      if (isPersonal) return actor === 'an agent, from somewhere';
      const isForAgents = permission !== null && (PERMISSIONS[permission] as string[]).includes('OWNER');
      return isForAgents || actor !== 'an agent, from somewhere';
    });

    it.each(actors)('has one entry and one event, when done by %s', async (by) => {
      const actor = ACTORS[by]!(subject.agent.id);
      const act = await prepare(subject, actor);
      const own = { tenantId: subject.workspace.id };
      const before = (await entries(own, action)).map(({ id }) => id);

      const { metadata, tenantId = subject.workspace.id, entity, entityId, ...changed } = await act();

      const written = (await entries({ tenantId }, action)).filter(({ id }) => !before.includes(id));
      expect(written).toEqual([
        {
          id: expect.any(String),
          tenantId,
          entity,
          entityId,
          actorType: actor.type,
          actorId: actor.type === 'agent' ? actor.id : null,
          actorName: actor.type === 'operator' ? actor.name : null,
          ...(actor.origin ?? { address: null, userAgent: null, requestId: null }),
          before: null,
          after: null,
          metadata: metadata ?? {},
          ...changed,
          transaction: expect.any(String),
        },
      ]);
      expect(JSON.stringify(written)).not.toMatch(SECRETS);
      const told = await events({ tenantId }, action);
      expect(told.at(-1)).toEqual({
        data: {
          action,
          entity,
          entityId,
          actorId: actorIdOf(actor),
          metadata: { ...metadata, ...changed, ...(actor.origin && { origin: actor.origin }) },
        },
        // Written by the same transaction.
        transaction: written[0]!.transaction,
      });
      expect(told).toHaveLength((await entries({ tenantId }, action)).length);
    });

    it('is undone with its entry: neither is there if either fails', async () => {
      const act = await prepare(subject, SYSTEM);
      const before = await snapshot();
      // The event, which is written last, is refused.
      await dashboard.query(
        `ALTER TABLE events ADD CONSTRAINT refused CHECK (data ->> 'action' IS DISTINCT FROM '${action}') NOT VALID`,
      );
      try {
        await expect(act()).rejects.toMatchObject({ driverError: { constraint: 'refused' } });
      } finally {
        await dashboard.query('ALTER TABLE events DROP CONSTRAINT refused');
      }
      expect(await snapshot()).toEqual(before);
    });

    if (permission !== null) {
      const holders: readonly string[] = PERMISSIONS[permission];
      const FORBIDDEN = { code: 'FORBIDDEN', message: expect.stringContaining(permission) };
      const NO_ACTOR = { code: 'INVALID_BODY', details: [{ field: 'actor' }] };
      const agent = (role: AgentRole, active = true) => ({
        make: async (): Promise<Actor> => {
          const { id } = await dashboard.make.agent(subject.workspace, { role, active });
          return { type: 'agent', id };
        },
        refusal: !active ? NO_ACTOR : holders.includes(role) ? null : FORBIDDEN,
      });
      const CALLERS: Record<string, { make: () => Promise<Actor>; refusal: object | null }> = {
        'an OWNER': agent('OWNER'),
        'an ADMIN': agent('ADMIN'),
        'an AGENT': agent('AGENT'),
        'an inactive OWNER': agent('OWNER', false),
        'an OWNER of another workspace': {
          make: async () => {
            const { id } = await dashboard.make.agent(await dashboard.make.workspace());
            return { type: 'agent', id };
          },
          refusal: NO_ACTOR,
        },
        'nobody of an id': { make: () => Promise.resolve({ type: 'agent', id: 'nope' }), refusal: NO_ACTOR },
        'an operator without a name': {
          make: () => Promise.resolve({ type: 'operator', name: ' ' }),
          refusal: NO_ACTOR,
        },
        'an API key': {
          make: async () => ({ type: 'api_key', id: (await dashboard.make.apiKey(subject.workspace)).id }),
          refusal: holders.includes('API_KEY') ? null : FORBIDDEN,
        },
      };

      it('is open to those alone who may do it, and is refused before anything changes', async () => {
        for (const [who, { make, refusal }] of Object.entries(CALLERS)) {
          subject = await subscribe(dashboard, 'https://127.0.0.1:9999/hook');
          const act = await prepare(subject, await make());
          const before = await snapshot();
          const outcome = await act().catch((error: unknown) => error);
          if (refusal) expect({ who, outcome }).toMatchObject({ who, outcome: refusal });
          else expect({ who, outcome }).toMatchObject({ who, outcome: { entity: expect.any(String) } });
          if (refusal) expect(await snapshot()).toEqual(before);
        }
      });
    }
  });

  describe('is known here:', () => {
    const audited = Object.values(SCENARIOS).map(({ method }) => method);
    const known = new Set([...audited, ...Object.keys(COVERED), ...READS, ...CONTENT]);
    const writing = new Set([...audited, ...CONTENT]);

    it('every method of every service reads, has a scenario above, or writes content', () => {
      const methods = serviceMethods();
      expect(methods.length).toBeGreaterThan(40);
      expect(methods.filter((method) => !known.has(method))).toEqual([]);
      expect([...known].filter((method) => !methods.includes(method))).toEqual([]);
    });

    it('every command and every route that writes calls such a method', () => {
      const commands = leavesOf(buildProgram()).filter((path) => !WITHOUT_SERVICE.includes(path));
      expect(commands.sort()).toEqual(Object.keys(COMMANDS).sort());
      expect(WRITES.map(nameOf).sort()).toEqual(Object.keys(ROUTES).sort());
      const called = [...Object.values(COMMANDS), ...Object.values(ROUTES)];
      expect(called.filter((method) => method !== null && !writing.has(method))).toEqual([]);
    });

    it('every action is in the table of docs/audit.md', () => {
      const rows = readFileSync(resolve(__dirname, '../../../docs/audit.md'), 'utf8').split('\n');
      const actions = Object.keys(SCENARIOS).map((name) => name.split(',')[0]!);
      const isListed = (action: string) => {
        const [entity, act] = action.split('.');
        return rows.some((row) => row.startsWith(`| \`${entity}\``) && row.includes(`\`${act}\``));
      };
      expect(actions.filter((action) => !isListed(action))).toEqual([]);
    });

    it('every permission is required somewhere', () => {
      const required = new Set(Object.values(SCENARIOS).map(({ permission }) => permission));
      const byOthers: Permission[] = ['workspace.create', 'secret.reencrypt', 'login.manage'];
      expect([...required, ...byOthers].filter(Boolean).sort()).toEqual(Object.keys(PERMISSIONS).sort());
    });
  });
});

function leavesOf(command: Command, path = ''): string[] {
  return command.commands.flatMap((child) => {
    const childPath = `${path} ${child.name()}`.trim();
    return child.commands.length > 0 ? leavesOf(child, childPath) : [childPath];
  });
}
