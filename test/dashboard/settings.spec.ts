import { makeSettings, Settings } from '../support/dashboard-routes';
import { errorBody } from '../support/errors';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { PASSWORD, Answer, TestDashboard } from '../support/test-dashboard';

/** Tests of the settings' routes, called as the pages call them. */
describe("the dashboard's settings", () => {
  let service: TestService;
  let dashboard: TestDashboard;
  let receiver: Receiver;
  let settings: Settings;

  beforeAll(async () => {
    service = await TestService.create();
    dashboard = await TestDashboard.create(service.stores, { PUBLIC_URL: service.baseUrl });
    receiver = await Receiver.start();
  });
  beforeEach(async () => {
    settings = await makeSettings(service, dashboard, receiver.url());
    receiver.https.respond = (response) => response.setHeader('x-receiver', 'acme').end('thanks');
  });

  const address = (path: string) => `/api/workspaces/${settings.workspace.id}${path}`;
  const get = (path: string) => settings.browser.get(address(path));
  const post = (path: string, body?: object) => settings.browser.post(address(path), body);
  const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);

  const makeEndpoint = async (url = receiver.url()) => {
    const { status, body } = await post('/webhook-endpoints', { url, events: ['message.created'] });
    expect(status).toBe(201);
    return body as { id: string; secret: string };
  };
  const auditOf = async (action: string) => (await get(`/audit-entries?action=${action}`)).body.data;

  describe('the first page', () => {
    it('tells what waits, what fails and how the channels are', async () => {
      const { make } = service;
      const conversation = await make.conversation(settings.workspace);
      await make.sent(settings.workspace, conversation);
      const { id } = await makeEndpoint();
      const message = await make.received(settings.workspace, conversation);
      const widget = { channel: 'WIDGET', credentials: { allowedOrigins: ['https://tea.example'] } };
      expect((await post('/channels', widget)).status).toBe(201);
      const { body } = await get('/first-page');
      expect(body).toEqual({
        openConversations: 1,
        waiting: { count: 1, since: message.createdAt.toISOString() },
        waitingMessages: 1,
        lostReplies: 0,
        hasConversation: true,
        managed: {
          channels: [{ channel: 'WIDGET', status: 'ACTIVE', lastReceivedAt: null }],
          endpoints: [
            {
              id,
              name: null,
              url: receiver.url(),
              active: true,
              failingSince: null,
              lastSuccessAt: null,
              deactivation: null,
            },
          ],
          webhooks: { pending: 0, exhausted: 0, buckets: expect.any(Array) },
        },
      });
    });

    it('shows an AGENT nothing of what only managers may read', async () => {
      await makeEndpoint();
      const agent = await service.make.agent(settings.workspace, { role: 'AGENT' });
      const browser = await dashboard.logIn(agent);
      expect((await browser.get(address('/first-page'))).body).toEqual({
        openConversations: 0,
        waiting: { count: 0, since: null },
        waitingMessages: 0,
        lostReplies: 0,
        hasConversation: false,
        managed: null,
      });
    });
  });

  describe('API keys', () => {
    it('are made, shown once, and open the REST API until they are revoked', async () => {
      const { body: made } = await post('/api-keys', { name: 'CRM', scopes: ['contacts:read'] });
      expect(made).toMatchObject({
        name: 'CRM',
        createdBy: settings.owner.id,
        key: expect.stringMatching(/^plk_/),
      });
      const { key, ...summary } = made;
      expect((await get('/api-keys')).body).toEqual({ data: [summary], nextCursor: null });
      const client = service.client.as({ key });
      expect((await client.get('/contacts')).status).toBe(200);
      // A revocation that does not say what becomes of the key's endpoints revokes nothing.
      expect((await post(`/api-keys/${made.id}/revoke`)).status).toBe(400);
      expect((await client.get('/contacts')).status).toBe(200);
      const revoked = await post(`/api-keys/${made.id}/revoke`, { reason: 'LEAKED' });
      expect(revoked.body).toMatchObject({ id: made.id, revokedAt: expect.any(String), endpoints: [] });
      expect((await client.get('/contacts')).status).toBe(401);
      const [entry] = await auditOf('api_key.revoked');
      expect(entry).toMatchObject({
        actorId: settings.owner.id,
        entityId: made.id,
        address: expect.stringMatching(/^10\.1\./),
        requestId: revoked.headers['x-request-id'],
      });
      expect(entry).not.toHaveProperty('tenantId');
    });

    it('say by field what is wrong', async () => {
      const { status, body } = await post('/api-keys', { name: '', scopes: ['contacts:fly'], colour: 'red' });
      expect(status).toBe(400);
      expect(body.error.details.map(({ field }: { field: string }) => field).sort()).toEqual([
        'colour',
        'name',
        'scopes',
      ]);
    });
  });

  describe('webhook endpoints', () => {
    it('are listed by trouble: deactivated by the service, failing, unused, working, deactivated by a person', async () => {
      const paths = ['/deactivated', '/working', '/unused', '/failing', '/failing-longer', '/given-up'];
      const ids = [];
      for (const path of paths) {
        const url = new URL(path, receiver.url()).href;
        ids.push((await post('/webhook-endpoints', { url, events: ['*'], name: path })).body.id as string);
      }
      const [deactivated, working, , failing, failingLonger, givenUp] = ids;
      await post(`/webhook-endpoints/${deactivated}/deactivate`);
      await service.query(
        `UPDATE webhook_endpoints SET active = false, deactivation_reason = 'gone', deactivated_at = now() WHERE id = $1`,
        [givenUp],
      );
      await service.query('UPDATE webhook_endpoints SET last_success_at = now() WHERE id = $1', [working]);
      for (const [n, id] of [failing, failingLonger].entries())
        await service.query(
          `UPDATE webhook_endpoints SET failing_since = now() - $2 * interval '1 hour' WHERE id = $1`,
          [id, n + 1],
        );
      const list = await get('/webhook-endpoints');
      expect(list.body.data.map(({ name }: { name: string }) => name)).toEqual([...paths].reverse());
      const deactivation = { reason: 'gone', at: expect.any(String) };
      expect(list.body.data[0]).toMatchObject({ active: false, deactivation });
      const { managed } = (await get('/first-page')).body;
      expect(managed.endpoints.find(({ id }: { id: string }) => id === givenUp)).toMatchObject({
        deactivation,
      });
      for (const id of ids) await settings.browser.delete(address(`/webhook-endpoints/${id}`));
    });

    it('are made with a secret, tested, deactivated, activated, rolled and deleted', async () => {
      const { id, secret } = await makeEndpoint();
      expect(secret).toMatch(/^whsec_/);
      const test = await post(`/webhook-endpoints/${id}/test`);
      expect(test.body).toMatchObject({
        status: 200,
        error: null,
        elapsedMs: expect.any(Number),
        phases: { firstByteMs: expect.any(Number) },
        response: { encoding: 'utf8', body: 'thanks' },
        responseHeaders: expect.stringContaining('x-receiver: acme'),
      });
      expect((await post(`/webhook-endpoints/${id}/deactivate`)).body).toMatchObject({ id, active: false });
      // Events of the Test button do not count.
      expect((await get(`/webhook-endpoints/${id}`)).body).toMatchObject({
        id,
        active: false,
        health: { active: false, last24Hours: { succeeded: 0 } },
      });
      expect((await post(`/webhook-endpoints/${id}/activate`)).body).toMatchObject({ id, active: true });
      const rolled = await post(`/webhook-endpoints/${id}/roll-secret`, { gracePeriodSeconds: 60 });
      expect(rolled.body.secret).not.toBe(secret);
      const list = await get('/webhook-endpoints');
      expect(list.body.data).toEqual([
        expect.objectContaining({ id, last24Hours: { succeeded: 0, late: 0, exhausted: 0 } }),
      ]);
      expect(JSON.stringify(list.body)).not.toContain('whsec_');
      const { status, body } = await settings.browser.delete(address(`/webhook-endpoints/${id}`));
      expect({ status, body }).toEqual({ status: 204, body: '' });
      expect((await get('/webhook-endpoints')).body.data).toEqual([]);
    });

    it('have addresses that are checked as one types', async () => {
      const check = async (url: string) => (await post('/webhook-endpoints/check-url', { url })).body;
      expect(await check(receiver.url())).toEqual({ ok: true });
      for (const url of ['', 'https', 'http://example.com/', 'https://10.0.0.1/', 'https://[::1]/'])
        expect({ url, ...(await check(url)) }).toMatchObject({
          url,
          ok: false,
          fault: { field: 'url', code: expect.any(String) },
        });
    });

    it('show a receiver that fails', async () => {
      receiver.https.respond = (response) => response.writeHead(503).end('later');
      const { id } = await makeEndpoint();
      const { body } = await post(`/webhook-endpoints/${id}/test`);
      expect(body).toMatchObject({ status: 503, error: expect.any(String), response: { body: 'later' } });
    });

    it('are not tested without end', async () => {
      const { id } = await makeEndpoint();
      const answers: Answer[] = [];
      while (answers.length < 11) answers.push(await post(`/webhook-endpoints/${id}/test`));
      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(10).fill(200), 429]);
      expect(Number(answers.at(-1)!.headers['retry-after'])).toBeGreaterThan(0);
      expect(answers.at(-1)!.body.error).toMatchObject({
        code: 'RATE_LIMITED',
        reason: 'too_many_requests',
        values: { max: 10 },
      });
    });

    it('are not added and edited without end', async () => {
      const { id } = await makeEndpoint();
      const edit = () => settings.browser.patch(address(`/webhook-endpoints/${id}`), { rateLimit: null });
      const answers: Answer[] = [];
      while (answers.length < 20) answers.push(await edit());
      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(19).fill(200), 429]);
      expect(answers.at(-1)!.body.error.code).toBe('RATE_LIMITED');
    });

    it('tell their events with schemas and examples', async () => {
      const { data } = (await get('/event-types')).body;
      expect(data.map(({ type }: { type: string }) => type)).toContain('message.created');
      for (const { type, description, schema, example } of data) {
        expect(description).toEqual(expect.any(String));
        expect(schema).toMatchObject({ type: 'object' });
        expect(example).toEqual({ event: type, deliveredAt: expect.any(String), data: expect.any(Object) });
      }
    });
  });

  describe('deliveries', () => {
    let endpointId: string;
    let deliveryId: string;

    beforeEach(async () => {
      endpointId = (await makeEndpoint()).id;
      await post(`/webhook-endpoints/${endpointId}/test`);
      const [only] = idsOf(await get(`/webhook-endpoints/${endpointId}/deliveries`));
      deliveryId = only!;
    });

    it('are found by the filters of the address', async () => {
      const list = async (query: string) =>
        idsOf(await get(`/webhook-endpoints/${endpointId}/deliveries?${query}`));
      expect(await list('status=succeeded&statusCode=2xx&event=webhook.test')).toEqual([deliveryId]);
      expect(await list('status=exhausted')).toEqual([]);
      expect(await list('statusCode=404')).toEqual([]);
      expect(await list(`since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
      const bad = await get(`/webhook-endpoints/${endpointId}/deliveries?status=lost`);
      expect(bad).toMatchObject({ status: 400, body: { error: { code: 'INVALID_QUERY' } } });
    });

    it('are shown with what was sent and answered', async () => {
      const { body } = await get(`/deliveries/${deliveryId}`);
      expect(body).toMatchObject({
        id: deliveryId,
        endpointId,
        request: { method: 'POST', url: receiver.url(), body: expect.stringContaining('webhook.test') },
        attempts: [{ statusCode: 200, response: { body: 'thanks' } }],
      });
    });

    it('are made again: one, the selected, and all that match', async () => {
      const again = await post(`/deliveries/${deliveryId}/redeliver`);
      expect(again.body).toMatchObject({ id: deliveryId, status: 'pending' });
      const selected = await post('/deliveries/redeliver', { ids: [deliveryId, 'nope'] });
      expect(selected.body.data).toMatchObject([
        { id: deliveryId, error: null },
        { id: 'nope', error: { code: 'NOT_FOUND', reason: 'not_found' } },
      ]);
      const filter = { status: 'exhausted', since: new Date(Date.now() - 60_000).toISOString() };
      const counted = await post(`/webhook-endpoints/${endpointId}/redeliveries`, { filter, dryRun: true });
      expect(counted.body).toMatchObject({ id: null, status: 'dry_run', total: 0 });
      const started = await post(`/webhook-endpoints/${endpointId}/redeliveries`, { filter });
      expect(started.body).toMatchObject({ status: 'running', startedBy: settings.owner.id });
      const bad = await post(`/webhook-endpoints/${endpointId}/redeliveries`, { filter: { status: 'lost' } });
      expect(bad).toMatchObject({ status: 400, body: { error: { details: [{ field: 'status' }] } } });
      const all = await post(`/webhook-endpoints/${endpointId}/redeliveries`, { filter: {} });
      expect(all).toMatchObject({ status: 400, body: { error: { details: [{ field: 'filter' }] } } });
    });

    it('are recovered since a moment, with progress, until somebody cancels', async () => {
      const since = new Date(Date.now() - 60_000).toISOString();
      const path = `/webhook-endpoints/${endpointId}/recoveries`;
      expect((await post(path, { since, dryRun: true })).body).toMatchObject({ id: null, total: 0 });
      const { body: started } = await post(path, { since });
      expect((await get(`/recoveries/${started.id}`)).body).toEqual(started);
      expect((await post(path, { since })).status).toBe(400);
      const cancelled = await post(`/recoveries/${started.id}/cancel`);
      expect(cancelled.body).toMatchObject({ id: started.id, status: 'cancelled' });
      expect(idsOf(await get(path))).toEqual([started.id]);
    });

    it('are charted', async () => {
      const day = (await get(`/webhook-endpoints/${endpointId}/timeline`)).body;
      expect(day).toMatchObject({ period: '24h', bucketMinutes: 5 });
      const week = (await get(`/webhook-endpoints/${endpointId}/timeline?period=7d`)).body;
      expect(week).toMatchObject({ period: '7d', bucketMinutes: 60 });
      const bad = await get(`/webhook-endpoints/${endpointId}/timeline?period=1y`);
      expect(bad).toMatchObject({ status: 400, body: { error: { details: [{ field: 'period' }] } } });
    });
  });

  describe('channels', () => {
    const credentials = { allowedOrigins: ['https://shop.example'] };

    it('are connected, rotated and disconnected', async () => {
      const { body: connected } = await post('/channels', { channel: 'WIDGET', credentials });
      expect(connected).toMatchObject({ channel: 'WIDGET', status: 'ACTIVE', reveal: expect.any(Object) });
      expect(connected.snippet).toContain(`${service.baseUrl}/widget/v1.js`);
      expect(idsOf(await get('/channels'))).toEqual([connected.id]);
      const other = { allowedOrigins: ['https://other.example'] };
      const rotated = await post(`/channels/${connected.id}/rotate`, { credentials: other });
      expect(rotated.body.settings).toMatchObject(other);
      const gone = await settings.browser.delete(address(`/channels/${connected.id}`));
      expect(gone).toMatchObject({ status: 200, body: { status: 'DISCONNECTED', providerFault: null } });
    });

    it('show the widget as visitors see it, and nothing else from elsewhere', async () => {
      const { body: connected } = await post('/channels', { channel: 'WIDGET', credentials });
      const preview = `/widget-preview/${settings.workspace.id}/${connected.id}`;
      const { status, headers, body } = await settings.browser.get(preview);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(body).toContain(connected.snippet);
      const policy = String(headers['content-security-policy']).split(';');
      expect(policy).toContain('sandbox allow-scripts allow-forms');
      expect(policy).toContainEqual(
        expect.stringMatching(new RegExp(`^script-src 'nonce-[\\w-]{22}' ${service.baseUrl}/widget/$`)),
      );
      expect(policy).toContain(`connect-src ${service.baseUrl}/channels/widget/`);
      expect(policy).toContain("default-src 'none'");
      const agent = await dashboard.logIn(await service.make.agent(settings.workspace, { role: 'AGENT' }));
      expect((await agent.get(preview)).status).toBe(403);
      const { browser: stranger } = await makeSettings(service, dashboard, receiver.url());
      expect((await stranger.get(preview)).status).toBe(404);
    });

    it('show the preview in the language of the person, else in that of the browser', async () => {
      const { body: connected } = await post('/channels', { channel: 'WIDGET', credentials });
      const preview = `/widget-preview/${settings.workspace.id}/${connected.id}`;
      const german = { 'accept-language': 'de-AT,en;q=0.5' };
      expect((await settings.browser.get(preview)).body).toContain('<html lang="en">');
      expect((await settings.browser.get(preview, german)).body).toContain('<html lang="de">');
      await settings.browser.send('PATCH', '/api/account', { locale: 'en' });
      expect((await settings.browser.get(preview, german)).body).toContain('<html lang="en">');
    });

    it('say what the credentials lack', async () => {
      const { status, body } = await post('/channels', { channel: 'TELEGRAM', credentials: {} });
      expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'INVALID_BODY' });
    });
  });

  describe('the audit log', () => {
    it('pages by cursor, filters, and is exported whole', async () => {
      for (const name of ['one', 'two', 'three'])
        await post('/api-keys', { name, scopes: ['contacts:read'] });
      const first = await get('/audit-entries?entity=api_key&limit=2');
      expect(first.body.data).toHaveLength(2);
      const second = await get(`/audit-entries?entity=api_key&limit=2&cursor=${first.body.nextCursor}`);
      expect(second.body.data).toHaveLength(1);
      expect(second.body.nextCursor).toBeNull();
      const { status, headers, body } = await get('/audit-entries/export');
      expect(status).toBe(200);
      expect(headers).toMatchObject({
        'content-type': expect.stringContaining('application/x-ndjson'),
        'content-disposition': 'attachment; filename=audit-log.ndjson',
      });
      const lines = String(body).trim().split('\n');
      const actions = lines.map((line) => (JSON.parse(line) as { action: string }).action);
      expect(actions.filter((action) => action === 'api_key.created')).toHaveLength(3);
      expect(actions).toContain('agent.created');
    });

    it('says what there is to filter by', async () => {
      await post('/api-keys', { name: 'one', scopes: ['contacts:read'] });
      const { body } = await get('/audit-entries/values');
      expect(body.actions).toEqual(expect.arrayContaining(['agent.created', 'api_key.created']));
      expect(body.entities).toEqual(expect.arrayContaining(['agent', 'api_key', 'workspace']));
      expect(body.actors).toEqual(expect.arrayContaining([settings.owner.id]));
    });

    it('is exported by a filter, as a table too', async () => {
      await post('/api-keys', { name: 'one', scopes: ['contacts:read'] });
      const { headers, body } = await get('/audit-entries/export?entity=api_key&format=csv');
      expect(headers['content-type']).toBe('text/csv; charset=utf-8');
      expect(headers['content-disposition']).toBe('attachment; filename=audit-log.csv');
      const [head, ...rows] = String(body).trim().split('\n');
      expect(head).toContain('action');
      expect(rows).toEqual([expect.stringContaining('api_key.created')]);
      const bad = await get('/audit-entries/export?format=pdf');
      expect(bad).toMatchObject({ status: 400, body: { error: { details: [{ field: 'format' }] } } });
    });

    it('is no file when it can not be read', async () => {
      await service.query('ALTER TABLE audit_entries RENAME TO audit_entries_away');
      try {
        const answer = await get('/audit-entries/export');
        expect(answer).toMatchObject({ status: 500, body: errorBody('INTERNAL', expect.any(String)) });
        expect(answer.headers).not.toHaveProperty('content-disposition');
      } finally {
        await service.query('ALTER TABLE audit_entries_away RENAME TO audit_entries');
      }
    });
  });

  describe('the workspace', () => {
    it('shows its plan, its use of the limit, and what it has', async () => {
      const key = await service.make.apiKey(settings.workspace);
      await service.client.as(key).get('/me');
      await makeEndpoint();
      expect((await get('/overview')).body).toMatchObject({
        id: settings.workspace.id,
        planTier: 'PRO',
        isTrialExpired: false,
        messageRetentionDays: null,
        rateLimit: { perMinute: 240, paths: [{ path: '/api/v1/me', used: 1 }] },
        counts: { agents: 1, apiKeys: 1, webhookEndpoints: 1, channels: 0 },
      });
    });

    it('keeps messages for so many days, and leaves the plan to the operator', async () => {
      const patch = (body: object) => settings.browser.patch(address(''), body);
      for (const password of [undefined, '', 'a wrong password'])
        expect(await patch({ messageRetentionDays: 90, password })).toMatchObject({
          status: 400,
          body: { error: { details: [{ field: 'password' }] } },
        });
      expect((await get('/overview')).body.messageRetentionDays).toBeNull();
      const days = { messageRetentionDays: 90 };
      expect((await patch({ ...days, password: PASSWORD })).body).toEqual(days);
      expect((await patch({ messageRetentionDays: null })).body).toEqual({ messageRetentionDays: null });
      for (const body of [{ planTier: 'ENTERPRISE' }, { rateLimit: 9_000 }, { entitlements: [] }])
        expect((await patch(body)).status).toBe(400);
    });

    it('invites agents, again, and takes invitations back', async () => {
      const { body } = await post('/agents', { name: 'Ben', email: 'Ben@Example.com', role: 'ADMIN' });
      expect(body).toMatchObject({
        agent: { name: 'Ben', role: 'ADMIN', active: true, isBot: false },
        invitation: { agentId: body.agent.id },
        isMailed: false,
        link: expect.stringMatching(/^http:\/\/localhost:3100\/welcome#[\w-]+$/),
      });
      const again = await post(`/agents/${body.agent.id}/invitation`);
      expect(again.body.link).not.toBe(body.link);
      const [invitation] = idsOf(await get('/invitations'));
      const { status } = await settings.browser.delete(address(`/invitations/${invitation}`));
      expect(status).toBe(204);
      expect(idsOf(await get('/invitations'))).toEqual([]);
      const token = new URL(again.body.link as string).hash.slice(1);
      expect((await dashboard.browser.post('/api/links/describe', { token })).status).toBe(404);
    });

    it('has no last owner who can be taken away', async () => {
      const { status } = await settings.browser.patch(address(`/agents/${settings.owner.id}`), {
        active: false,
      });
      expect(status).toBe(400);
    });

    it('is set up as before when the trial is over', async () => {
      const workspace = await service.make.expiredTrial();
      const browser = await dashboard.logIn(await service.make.agent(workspace));
      const { body } = await browser.get('/api/session');
      expect(body.workspaces[0]).toMatchObject({ isTrialExpired: true });
      const path = `/api/workspaces/${workspace.id}/api-keys`;
      expect((await browser.post(path, { name: 'CRM', scopes: ['contacts:read'] })).status).toBe(201);
    });

    it('shows events that could not be taken in', async () => {
      await service.query(
        `INSERT INTO parked_events (tenant_id, event_id, consumer, error, queued_at) VALUES ($1, $1, 'webhooks', 'broken', now())`,
        [settings.workspace.id],
      );
      expect((await get('/parked-events')).body.data).toEqual([
        {
          eventId: settings.workspace.id,
          consumer: 'webhooks',
          error: 'broken',
          queuedAt: expect.any(String),
          parkedAt: expect.any(String),
          request: null,
        },
      ]);
    });
  });

  it('answer an error of the machine with its request id, and nothing of its cause', async () => {
    await service.query('ALTER TABLE api_keys RENAME TO api_keys_away');
    try {
      const answer = await get('/api-keys');
      expect(answer).toMatchObject({ status: 500, body: errorBody('INTERNAL', expect.any(String)) });
      expect(JSON.stringify(answer.body)).not.toContain('api_keys');
      expect(answer.body.error.requestId).toBe(answer.headers['x-request-id']);
    } finally {
      await service.query('ALTER TABLE api_keys_away RENAME TO api_keys');
    }
  });
});
