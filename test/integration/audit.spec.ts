import { ApiKeysService } from '../../src/auth/api-keys.service';
import { AuditService } from '../../src/audit/audit.service';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/common/principal';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { Database } from '../../src/database/database';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookTestService } from '../../src/webhooks/deliveries/webhook-test.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { Dashboard } from '../support/dashboard';
import { subscribe, Subscription } from '../support/webhook-workspace';

interface Expected {
  entity: string;
  entityId: string;
  metadata: Record<string, unknown>;
}

/** An audited action: what is there before, and then what is done, which says what its entry must be. */
type Action = (subject: Subscription, actor: Actor) => Act | Promise<Act>;
type Act = () => Promise<Expected>;

describe('the audit log', () => {
  let dashboard: Dashboard;
  let subject: Subscription;

  beforeAll(async () => {
    dashboard = await Dashboard.create();
  });
  afterAll(() => dashboard.close());
  beforeEach(async () => {
    subject = await subscribe(dashboard, 'https://127.0.0.1:9999/hook');
  });

  const keys = () => dashboard.get(ApiKeysService);
  const agents = () => dashboard.get(AgentsService);
  const endpoints = () => dashboard.get(WebhookEndpointsService);
  const conversations = () => dashboard.get(ConversationsService);
  const workspaces = () => dashboard.get(WorkspacesService);
  const endpointEntry = ({ endpoint }: Subscription): Expected => ({
    entity: 'webhook_endpoint',
    entityId: endpoint.id,
    metadata: { url: endpoint.url },
  });

  const ACTIONS: Record<string, Action> = {
    'api_key.created':
      ({ workspace }, actor) =>
      async () => {
        const { id } = await keys().create(workspace.id, { name: 'CRM', scopes: ['contacts:read'] }, actor);
        return { entity: 'api_key', entityId: id, metadata: { name: 'CRM', scopes: ['contacts:read'] } };
      },
    'api_key.revoked': async ({ workspace }, actor) => {
      const { id } = await dashboard.make.apiKey(workspace);
      return async () => {
        await keys().revoke(workspace.id, id, actor);
        return { entity: 'api_key', entityId: id, metadata: { name: 'Test key' } };
      };
    },
    'webhook_endpoint.created':
      ({ workspace }, actor) =>
      async () => {
        const url = 'https://127.0.0.1:9999/second';
        const { id } = await endpoints().create(workspace.id, { url, events: ['*'] }, actor);
        return { entity: 'webhook_endpoint', entityId: id, metadata: { url } };
      },
    'webhook_endpoint.deactivated': (subject, actor) => async () => {
      await endpoints().deactivate(subject.workspace.id, subject.endpoint.id, actor);
      return endpointEntry(subject);
    },
    'webhook_endpoint.activated': async (subject, actor) => {
      await endpoints().deactivate(subject.workspace.id, subject.endpoint.id, SYSTEM);
      return async () => {
        await endpoints().activate(subject.workspace.id, subject.endpoint.id, actor);
        return endpointEntry(subject);
      };
    },
    'webhook_endpoint.deleted': (subject, actor) => async () => {
      await endpoints().delete(subject.workspace.id, subject.endpoint.id, actor);
      return endpointEntry(subject);
    },
    'webhook_endpoint.tested': (subject, actor) => async () => {
      await dashboard.get(WebhookTestService).test(subject.workspace.id, subject.endpoint.id, actor);
      return endpointEntry(subject);
    },
    'agent.created':
      ({ workspace }, actor) =>
      async () => {
        const input = { name: 'Ben', email: 'ben@example.com', role: 'AGENT' as const };
        const { id } = await agents().create(workspace.id, input, actor);
        return { entity: 'agent', entityId: id, metadata: { role: 'AGENT' } };
      },
    'agent.role_changed':
      ({ workspace, agent }, actor) =>
      async () => {
        await agents().update(workspace.id, agent.id, { role: 'ADMIN' }, actor);
        return { entity: 'agent', entityId: agent.id, metadata: { from: 'OWNER', to: 'ADMIN' } };
      },
    'workspace.plan_changed':
      ({ workspace }, actor) =>
      async () => {
        await workspaces().update(workspace.id, { planTier: 'STARTER' }, actor);
        return { entity: 'workspace', entityId: workspace.id, metadata: { from: 'PRO', to: 'STARTER' } };
      },
    'workspace.rate_limit_changed':
      ({ workspace }, actor) =>
      async () => {
        await workspaces().update(workspace.id, { rateLimit: 500 }, actor);
        return { entity: 'workspace', entityId: workspace.id, metadata: { from: null, to: 500 } };
      },
    'conversation.assigned':
      ({ workspace, conversation, agent }, actor) =>
      async () => {
        await conversations().update(workspace.id, conversation.id, { assignedAgentId: agent.id }, actor);
        return { entity: 'conversation', entityId: conversation.id, metadata: { from: null, to: agent.id } };
      },
    'conversation.closed':
      ({ workspace, conversation }, actor) =>
      async () => {
        await conversations().update(workspace.id, conversation.id, { status: 'CLOSED' }, actor);
        return { entity: 'conversation', entityId: conversation.id, metadata: { from: 'OPEN' } };
      },
  };

  const entries = (action: string) =>
    dashboard.query<Expected & { id: string }>(
      `SELECT id, entity, entity_id AS "entityId", actor_type AS "actorType", actor_id AS "actorId", metadata,
         xmin::text AS transaction
       FROM audit_entries WHERE tenant_id = $1 AND action = $2 ORDER BY id`,
      [subject.workspace.id, action],
    );
  const events = (action: string) =>
    dashboard.query<{ data: object }>(
      `SELECT data, xmin::text AS transaction FROM events
       WHERE tenant_id = $1 AND type = 'audit.event' AND data ->> 'action' = $2 ORDER BY id`,
      [subject.workspace.id, action],
    );

  describe.each(Object.entries(ACTIONS))('of %s', (action, prepare) => {
    it.each(['agent', 'system'] as const)(
      'has one entry and one event, by the %s that did it',
      async (type) => {
        const actor: Actor = type === 'agent' ? { type, id: subject.agent.id } : SYSTEM;
        const act = await prepare(subject, actor);
        const before = (await entries(action)).map(({ id }) => id);

        const expected = await act();

        const written = (await entries(action)).filter(({ id }) => !before.includes(id));
        expect(written).toEqual([
          {
            id: expect.any(String),
            ...expected,
            actorType: type,
            actorId: actor.id,
            transaction: expect.any(String),
          },
        ]);
        expect((await events(action)).at(-1)).toEqual({
          data: { action, ...expected, actorId: actor.id ?? 'system' },
          // Written by the same transaction.
          transaction: (written[0] as unknown as { transaction: string }).transaction,
        });
        expect(await events(action)).toHaveLength(before.length + 1);
      },
    );

    it('is undone with its change: neither is there if either fails', async () => {
      const act = await prepare(subject, SYSTEM);
      const before = await snapshot();
      // The entry comes with its change; its event, which is written last, is refused.
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
  });

  it('has no entry of what changes nothing', async () => {
    const { workspace, agent, conversation, endpoint } = subject;
    await endpoints().activate(workspace.id, endpoint.id, SYSTEM);
    await agents().update(workspace.id, agent.id, { role: 'OWNER', active: true }, SYSTEM);
    await workspaces().update(workspace.id, { planTier: 'PRO', rateLimit: null }, SYSTEM);
    await conversations().update(workspace.id, conversation.id, { status: 'OPEN' }, SYSTEM);
    const key = await dashboard.make.apiKey(workspace);
    await keys().revoke(workspace.id, key.id, SYSTEM);
    await keys().revoke(workspace.id, key.id, SYSTEM);

    const rows = await dashboard.query<{ action: string }>(
      'SELECT action FROM audit_entries WHERE tenant_id = $1 ORDER BY id',
      [workspace.id],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'agent.created',
      'webhook_endpoint.created',
      'api_key.created',
      'api_key.revoked',
    ]);
  });

  it('takes what others record, alone or in a transaction', async () => {
    const { workspace, agent } = subject;
    const actor: Actor = { type: 'agent', id: agent.id };
    const record = {
      tenantId: workspace.id,
      actor,
      action: 'agent.logged_in',
      entity: 'agent',
      entityId: agent.id,
    };
    const audit = dashboard.get(AuditService);
    await audit.record(record);
    await expect(
      dashboard.get(Database).transaction(async (tx) => {
        await audit.append(tx, record);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');

    expect(await entries('agent.logged_in')).toHaveLength(1);
    expect(await events('agent.logged_in')).toHaveLength(1);
  });

  it('is listed newest first, page by page, for its workspace alone', async () => {
    const audit = dashboard.get(AuditService);
    const [newest, oldest] = await audit.list(subject.workspace.id, 10);
    expect([newest, oldest]).toMatchObject([
      { action: 'webhook_endpoint.created' },
      { action: 'agent.created' },
    ]);
    expect(await audit.list(subject.workspace.id, 10, newest!.id)).toEqual([oldest]);
    expect(await audit.list(newId(), 10)).toEqual([]);
  });

  /** Everything that the actions change in the workspace. */
  async function snapshot(): Promise<unknown[]> {
    const tables = ['agents', 'api_keys', 'conversations', 'events', 'audit_entries', 'webhook_endpoints'];
    const rows = tables.map((table) =>
      dashboard.query(`SELECT * FROM ${table} WHERE tenant_id = $1 ORDER BY id`, [subject.workspace.id]),
    );
    const deliveries = ['pending_deliveries', 'webhook_deliveries', 'pending_cancellations'].map((table) =>
      dashboard.query(`SELECT * FROM ${table} WHERE tenant_id = $1`, [subject.workspace.id]),
    );
    const workspace = dashboard.query('SELECT * FROM workspaces WHERE id = $1', [subject.workspace.id]);
    return Promise.all([...rows, ...deliveries, workspace]);
  }
});
