import { ApiKeysService } from '../../src/auth/api-keys.service';
import { ExportAuditEntriesQuery, ListAuditEntriesQuery } from '../../src/audit/audit-entry.dto';
import { AuditTally } from '../../src/audit/audit-tally';
import { AuditService } from '../../src/audit/audit.service';
import { maskUrls } from '../../src/audit/masked-urls';
import { newId } from '../../src/common/ids';
import { Actor, SYSTEM } from '../../src/access/principal';
import { ConversationsService } from '../../src/conversations/conversations.service';
import { Database } from '../../src/database/database';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { AgentsService } from '../../src/workspaces/agents.service';
import { WorkspacesService } from '../../src/workspaces/workspaces.service';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { moment } from '../support/wait';
import { subscribe, Subscription } from '../support/webhook-workspace';

describe('the audit log', () => {
  let host: MessagingHost;
  let subject: Subscription;

  beforeAll(async () => {
    host = await MessagingHost.create();
  });
  beforeEach(async () => {
    subject = await subscribe(host, 'https://127.0.0.1:9999/hook');
  });

  const keys = () => host.get(ApiKeysService);
  const agents = () => host.get(AgentsService);
  const endpoints = () => host.get(WebhookEndpointsService);
  const conversations = () => host.get(ConversationsService);
  const workspaces = () => host.get(WorkspacesService);
  const entries = (action: string) =>
    host.query('SELECT 1 FROM audit_entries WHERE tenant_id = $1 AND action = $2', [
      subject.workspace.id,
      action,
    ]);
  const events = (action: string) =>
    host.query(
      `SELECT 1 FROM events WHERE tenant_id = $1 AND type = 'audit.event' AND data ->> 'action' = $2`,
      [subject.workspace.id, action],
    );

  it('has no entry of what changes nothing', async () => {
    const { workspace, agent, conversation, endpoint } = subject;
    await endpoints().activate(workspace.id, endpoint.id, SYSTEM);
    await agents().update(workspace.id, agent.id, { role: 'OWNER', active: true }, SYSTEM);
    await workspaces().update(workspace.id, { planTier: 'PRO', rateLimit: null }, SYSTEM);
    await conversations().update(workspace.id, conversation.id, { status: 'OPEN' }, SYSTEM);
    const key = await host.make.apiKey(workspace);
    await keys().revoke(workspace.id, key.id, { reason: 'LEAKED' }, SYSTEM);
    await keys().revoke(workspace.id, key.id, { reason: 'LEAKED' }, SYSTEM);

    const rows = await host.query<{ action: string }>(
      'SELECT action FROM audit_entries WHERE tenant_id = $1 ORDER BY id',
      [workspace.id],
    );
    expect(rows.map(({ action }) => action)).toEqual([
      'workspace.created',
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
    const audit = host.get(AuditService);
    await audit.record(record);
    await expect(
      host.get(Database).transaction((tx) => {
        audit.appendPipelined(tx, record);
        throw new Error('rolled back');
      }),
    ).rejects.toThrow('rolled back');

    expect(await entries('agent.logged_in')).toHaveLength(1);
    expect(await events('agent.logged_in')).toHaveLength(1);
  });

  describe('counts what strangers repeat', () => {
    const tally = () => host.get(AuditTally);
    const failedLogin = (agentId: string, tenantId = subject.workspace.id) => ({
      tenantId,
      action: 'agent.login_failed',
      entity: 'agent',
      entityId: agentId,
      origin: { address: '203.0.113.9' },
    });
    const counted = async (tenantId = subject.workspace.id) => {
      const query = { action: 'agent.login_failed', limit: 200 };
      return (await host.get(AuditService).list(tenantId, query, SYSTEM)).data;
    };

    it('in one entry of a window, with one event', async () => {
      const { agent } = subject;
      const before = new Date().toISOString();
      for (let n = 0; n < 1_000; n++)
        tally().countAction({ ...failedLogin(agent.id), metadata: { method: 'password' } });
      expect(await counted()).toEqual([]);

      await tally().flush();
      await tally().flush();
      const [entry, ...others] = await counted();
      expect(others).toEqual([]);
      expect(entry).toMatchObject({
        entity: 'agent',
        entityId: agent.id,
        actorType: 'system',
        address: '203.0.113.9',
        metadata: { method: 'password', count: 1_000, since: expect.any(String), until: expect.any(String) },
      });
      const { since, until } = entry!.metadata as { since: string; until: string };
      expect([before, since, until, new Date().toISOString()].sort()).toEqual([
        before,
        since,
        until,
        expect.any(String),
      ]);
      expect(await events('agent.login_failed')).toHaveLength(1);
    });

    it('of at most fifty things of a workspace apart, and loses no count', async () => {
      const { workspace: other } = await subscribe(host, 'https://127.0.0.1:9999/hook');
      for (let n = 0; n < 500; n++) tally().countAction(failedLogin(newId()));
      tally().countAction(failedLogin(newId(), other.id));
      await tally().flush();

      const entries = await counted();
      expect(entries).toHaveLength(51);
      expect(entries.filter(({ entity }) => entity === 'workspace')).toMatchObject([
        { entityId: subject.workspace.id, metadata: { count: 450 } },
      ]);
      expect(await counted(other.id)).toHaveLength(1);
    });

    it('in the next window what could not be written, and forgets unknown workspaces', async () => {
      const nobody = newId();
      const add = () =>
        [subject.workspace.id, nobody].map((id) => tally().countAction(failedLogin(subject.agent.id, id)));
      add();
      await host.query(
        `ALTER TABLE audit_entries ADD CONSTRAINT refused CHECK (action <> 'agent.login_failed') NOT VALID`,
      );
      try {
        await tally().flush();
      } finally {
        await host.query('ALTER TABLE audit_entries DROP CONSTRAINT refused');
      }
      expect(await counted()).toEqual([]);
      add();
      await tally().flush();
      expect(await counted()).toMatchObject([{ metadata: { count: 2 } }]);
      expect(await counted(nobody)).toEqual([]);
    });

    it('and writes it before the process ends', async () => {
      const closing = await MessagingHost.create({ beside: host });
      closing.get(AuditTally).countAction(failedLogin(subject.agent.id));
      await closing.close();
      expect(await counted()).toMatchObject([{ metadata: { count: 1 } }]);
    });
  });

  describe('is exported', () => {
    const lines = async (query: ExportAuditEntriesQuery = {}, format?: 'ndjson' | 'csv') => {
      const all: string[] = [];
      const { id } = subject.workspace;
      for await (const line of host.get(AuditService).export(id, query, SYSTEM, format)) all.push(line);
      return all;
    };
    const actionsOf = (exported: string[]) =>
      exported.map((line) => (JSON.parse(line) as { action: string }).action);

    it('oldest first, by every filter of the list', async () => {
      const all = ['workspace.created', 'agent.created', 'webhook_endpoint.created'];
      expect(actionsOf(await lines())).toEqual(all);
      const { data } = await host.get(AuditService).list(subject.workspace.id, {}, SYSTEM);
      expect((await lines()).reverse().map((line) => JSON.parse(line) as unknown)).toEqual(
        JSON.parse(JSON.stringify(data)),
      );
      const { agent } = subject;
      for (const query of [{ action: 'agent.created' }, { entity: 'agent' }, { entityId: agent.id }])
        expect(actionsOf(await lines(query))).toEqual(['agent.created']);
      expect(actionsOf(await lines({ actor: 'system' }))).toEqual(all);
      expect(await lines({ actor: 'operator:lin' })).toEqual([]);
      expect(await lines({ until: data.at(-1)!.createdAt })).toEqual([]);
      expect(actionsOf(await lines({ since: data[0]!.createdAt, entity: 'webhook_endpoint' }))).toEqual([
        all[2],
      ]);
    });

    it('as CSV, and refuses what it does not know', async () => {
      const [head, ...rest] = await lines({}, 'csv');
      expect(head).toMatch(/^\uFEFFid,createdAt,action,/);
      expect(rest).toHaveLength(3);
      await expectRefusal(lines({ limit: 5 } as object), 'INVALID_QUERY');
      await expectRefusal(lines({ since: 'soon' } as object), 'INVALID_QUERY');
      await expectRefusal(lines({}, 'xml' as 'csv'), 'INVALID_QUERY');
    });

    it('step by step, however long it is', async () => {
      const { id } = subject.workspace;
      await host.query(
        `INSERT INTO audit_entries (tenant_id, id, action, entity, entity_id, actor_type, metadata, created_at)
         SELECT $1, id, 'many.written', 'many', '1', 'system', '{}', now() FROM unnest($2::uuid[]) AS id`,
        [id, Array.from({ length: 2_500 }, newId)],
      );
      const exported = await lines({ action: 'many.written' });
      const ids = exported.map((line) => (JSON.parse(line) as { id: string }).id);
      expect(ids).toHaveLength(2_500);
      expect(ids).toEqual([...new Set(ids)].sort());
    });
  });

  describe('is listed', () => {
    const list = (query: Partial<ListAuditEntriesQuery> = {}, tenantId = subject.workspace.id) =>
      host.get(AuditService).list(tenantId, query, SYSTEM);
    const actions = async (query: Partial<ListAuditEntriesQuery>) =>
      (await list(query)).data.map(({ action }) => action);

    it('newest first, page by page, for its workspace alone', async () => {
      const { data, nextCursor } = await list();
      expect(data).toMatchObject([
        { action: 'webhook_endpoint.created' },
        { action: 'agent.created' },
        { action: 'workspace.created' },
      ]);
      expect(nextCursor).toBeNull();
      const first = await list({ limit: 1 });
      expect(first).toEqual({ data: [data[0]], nextCursor: data[0]!.id });
      expect(await list({ limit: 2, cursor: first.nextCursor! })).toEqual({
        data: data.slice(1),
        nextCursor: null,
      });
      for (const nobody of [newId(), 'nope'])
        expect(await list({}, nobody)).toEqual({ data: [], nextCursor: null });
    });

    it('whole: who, from where, what, before and after', async () => {
      const { workspace, agent, endpoint } = subject;
      const origin = { address: '2001:db8::7', userAgent: `a\0${'b'.repeat(600)}`, requestId: 'r-7' };
      await endpoints().deactivate(workspace.id, endpoint.id, { type: 'agent', id: agent.id, origin });
      expect((await list({ limit: 1 })).data).toEqual([
        {
          id: expect.any(String),
          tenantId: workspace.id,
          action: 'webhook_endpoint.deactivated',
          entity: 'webhook_endpoint',
          entityId: endpoint.id,
          actorType: 'agent',
          actorId: agent.id,
          actorName: null,
          address: '2001:db8::7',
          // The text is cut to 512 characters, without the NUL that no text column accepts.
          userAgent: `a${'b'.repeat(511)}`,
          requestId: 'r-7',
          before: { active: true },
          after: { active: false },
          metadata: { url: maskUrls(endpoint.url) },
          createdAt: expect.any(Date),
        },
      ]);
    });

    it('by action, actor, entity and time, and by all of them together', async () => {
      const { workspace, agent, endpoint } = subject;
      const before = await moment();
      await endpoints().deactivate(workspace.id, endpoint.id, { type: 'agent', id: agent.id });
      await endpoints().activate(workspace.id, endpoint.id, { type: 'operator', name: 'lin' });
      const key = await host.make.apiKey(workspace);

      expect(await actions({ action: 'api_key.created' })).toEqual(['api_key.created']);
      expect(await actions({ action: 'api_key' })).toEqual([]);
      expect(await actions({ actor: agent.id })).toEqual(['webhook_endpoint.deactivated']);
      expect(await actions({ actor: 'operator:lin' })).toEqual(['webhook_endpoint.activated']);
      expect(await actions({ actor: 'system' })).toEqual([
        'api_key.created',
        'webhook_endpoint.created',
        'agent.created',
        'workspace.created',
      ]);
      expect(await actions({ actor: 'lin' })).toEqual([]);
      expect(await actions({ entity: 'api_key' })).toEqual(['api_key.created']);
      expect(await actions({ entityId: endpoint.id })).toEqual([
        'webhook_endpoint.activated',
        'webhook_endpoint.deactivated',
        'webhook_endpoint.created',
      ]);
      expect(await actions({ since: before })).toEqual([
        'api_key.created',
        'webhook_endpoint.activated',
        'webhook_endpoint.deactivated',
      ]);
      expect(await actions({ until: before })).toEqual([
        'webhook_endpoint.created',
        'agent.created',
        'workspace.created',
      ]);
      const all = { action: 'api_key.created', actor: 'system', entity: 'api_key', entityId: key.id };
      expect(await actions({ ...all, since: before, until: new Date(Date.now() + 1_000) })).toEqual([
        'api_key.created',
      ]);
      expect(await actions({ ...all, actor: agent.id })).toEqual([]);
    });

    it.each<[string, object]>([
      ['limit', { limit: 201 }],
      ['cursor', { cursor: 'x' }],
      ['actor', { actor: 'a\0' }],
      ['since', { since: new Date('soon') }],
      ['acton', { acton: 'api_key.created' }],
    ])('not with a faulty %s', async (field, query) => {
      await expect(list(query)).rejects.toMatchObject({ code: 'INVALID_QUERY', details: [{ field }] });
    });
  });
});
