import { SYSTEM } from '../../src/access/principal';
import { newId } from '../../src/common/ids';
import { MessageSearchService } from '../../src/message-search/message-search.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { errorBody, fieldError } from '../support/errors';
import { DnsStub } from '../support/dns-stub';
import { eventsOf } from '../support/events';
import { Receiver } from '../support/receiver';
import { createTenant, Tenant } from '../support/routes';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';

describe('webhook endpoints, and the search in messages', () => {
  let service: TestService;
  let receiver: Receiver;
  let dns: DnsStub;
  let tenant: Tenant;

  beforeAll(async () => {
    dns = await DnsStub.start();
    service = await TestService.create({ role: 'all', env: { WEBHOOK_DNS_SERVERS: dns.server } });
    receiver = await Receiver.start();
  });
  beforeEach(async () => {
    tenant = await createTenant(service);
  });

  describe('/api/v1/webhook-endpoints', () => {
    const post = (body: object, headers = {}) => tenant.client.post('/webhook-endpoints', body, headers);
    const input = (events = ['message.created']) => ({
      url: receiver.url(`/${tenant.workspace.slug}`),
      events,
    });
    const refused = (message: string) => ({ status: 403, body: errorBody('FORBIDDEN', message) });

    it('makes one that is sent what happens, and shows its secret once', async () => {
      const { client, workspace, conversation, key } = tenant;
      const given = { ...input(), name: 'CRM', description: 'Copies messages.', rateLimit: 50 };
      const { status, body } = await post(given);
      expect(status).toBe(201);
      const { secret, ...endpoint } = body;
      expect(secret).toMatch(/^whsec_/);
      expect(endpoint).toEqual({
        ...given,
        id: expect.any(String),
        active: true,
        automaticRecovery: false,
        version: 1,
        previousSecretEndsAt: null,
        failingSince: null,
        lastSuccessAt: null,
        context: false,
        contextParts: [],
        deactivation: null,
        madeBy: { type: 'api_key', id: key.id },
        urlSetBy: { type: 'api_key', id: key.id },
        createdAt: expect.any(String),
        updatedAt: endpoint.createdAt,
      });
      expect((await client.get(`/webhook-endpoints/${endpoint.id}`)).body).toEqual(endpoint);
      expect((await client.get('/webhook-endpoints')).body).toEqual({ data: [endpoint], nextCursor: null });
      const audited = await eventsOf(service, workspace, 'audit.event');
      expect(audited.filter(({ entityId }) => entityId === endpoint.id)).toEqual([
        expect.objectContaining({ action: 'webhook_endpoint.created', actorId: key.id }),
      ]);
      await service.make.received(workspace, conversation, 'Where is it?');
      const { envelope } = await receiver.waitFor(() => true, `/${workspace.slug}`);
      expect(envelope.data).toMatchObject({ conversationId: conversation.id });
    });

    it('makes one for one Idempotency-Key, and does not show the secret again', async () => {
      const headers = { 'Idempotency-Key': 'terraform-1' };
      const first = await post(input(), headers);
      const second = await post(input(), headers);
      expect([first.status, second.status]).toEqual([201, 201]);
      expect(second.headers['idempotency-replayed']).toBe('true');
      expect(second.body).toEqual({ ...first.body, secret: null });
      expect(await tenant.client.all('/webhook-endpoints', 1)).toHaveLength(1);
      const kept = await service.query(
        'SELECT response::text AS kept FROM idempotency_keys WHERE tenant_id = $1',
        [tenant.workspace.id],
      );
      expect(JSON.stringify(kept)).not.toContain('whsec_');
    });

    it('answers a repeated request, and refuses another under its key, without a name server', async () => {
      const headers = { 'Idempotency-Key': 'terraform-2' };
      const named = { ...input(), url: 'https://hooks.shop.example/messaging' };
      dns.set('hooks.shop.example', { A: ['127.0.0.1'] });
      const first = await post(named, headers);
      expect(first.status).toBe(201);
      dns.set('hooks.shop.example', { A: 'SERVFAIL', AAAA: 'SERVFAIL' });
      const asked = dns.questions.length;
      const second = await post(named, headers);
      expect([second.status, second.body]).toEqual([201, { ...first.body, secret: null }]);
      const other = await post({ ...named, name: 'Other' }, headers);
      expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
      expect(dns.questions.length).toBe(asked);
      const [url] = (await post(named)).body.error.details;
      expect(url).toMatchObject({ field: 'url', code: 'host_not_public' });
    });

    it('tells a key the same of every name that leads to no public address', async () => {
      const answers = {
        'unknown.corp.example': { A: 'NXDOMAIN', AAAA: 'NXDOMAIN' },
        'broken.corp.example': { A: 'SERVFAIL', AAAA: 'SERVFAIL' },
        'empty.corp.example': {},
        'internal.corp.example': { A: ['10.1.2.3'] },
        'metadata.corp.example': { A: ['169.254.169.254'] },
      } as const;
      const { body: made } = await post(input());
      const messages = new Set<string>();
      for (const [host, zone] of Object.entries(answers)) {
        dns.set(host, zone as Parameters<DnsStub['set']>[1]);
        const named = { ...input(), url: `https://${host}/hook` };
        for (const { status, body } of [
          await post(named),
          await tenant.client.patch(`/webhook-endpoints/${made.id}`, { url: named.url }),
        ]) {
          expect(status).toBe(400);
          const { code, message } = body.error.details[0];
          messages.add(`${code} ${message.replaceAll(host, 'HOST')}`);
        }
        // A name that was public when the endpoint was made is tested later, too.
        dns.set('moved.shop.example', { A: ['127.0.0.1'] });
        const moved = { ...input(), url: 'https://moved.shop.example/hook' };
        const { body: endpoint } = await post(moved);
        dns.set('moved.shop.example', zone as Parameters<DnsStub['set']>[1]);
        const tested = await tenant.client.post(`/webhook-endpoints/${endpoint.id}/test`, {});
        expect(tested.body).toMatchObject({ status: null });
        messages.add(
          `host_not_public is refused: ${tested.body.error.replaceAll('moved.shop.example', 'HOST')}`,
        );
        await tenant.client.delete(`/webhook-endpoints/${endpoint.id}`);
      }
      expect([...messages]).toEqual([
        'host_not_public is refused: HOST does not resolve to public addresses',
      ]);
    });

    it('shows a key that may not write no secret part of a URL', async () => {
      const token = '9f86d081884c7d659a2feaa0c55ad015';
      const url = receiver.url(`/in/${token}/messages?token=${token}`);
      const { body: made } = await post({ ...input(), url });
      expect(made.url).toBe(url);
      const reader = service.client.as(await service.make.apiKey(tenant.workspace, ['webhooks:read']));
      const { body: shown } = await reader.get(`/webhook-endpoints/${made.id}`);
      expect(shown.url).toBe(receiver.url('/in/…?…'));
      const { body: listed } = await reader.get('/webhook-endpoints');
      expect(JSON.stringify(listed)).not.toContain(token);
      expect((await tenant.client.get(`/webhook-endpoints/${made.id}`)).body.url).toBe(url);
    });

    it('changes, deactivates and activates one, and refuses what is based on earlier settings', async () => {
      const { client } = tenant;
      const { body: made } = await post(input());
      const patch = (changes: object) => client.patch(`/webhook-endpoints/${made.id}`, changes);
      const edited = await patch({
        version: 1,
        name: 'ERP',
        events: ['conversation.updated'],
        active: false,
      });
      expect(edited.status).toBe(200);
      expect(edited.body).toMatchObject({
        name: 'ERP',
        events: ['conversation.updated'],
        active: false,
        version: 2,
      });
      const late = await patch({ version: 1, name: 'CRM' });
      expect(late.status).toBe(409);
      expect(late.body.error).toMatchObject({ code: 'CONFLICT', reason: 'endpoint_edited' });
      expect((await patch({ rateLimit: 7 })).body).toMatchObject({ rateLimit: 7, version: 3, active: false });
      expect((await patch({ active: true })).body).toMatchObject({ active: true, name: 'ERP' });
      for (const changes of [{}, { version: 3 }]) {
        const nothing = await patch(changes);
        expect([nothing.status, nothing.body.error.code]).toEqual([400, 'INVALID_BODY']);
      }
      const actions = (await eventsOf(service, tenant.workspace, 'audit.event'))
        .filter(({ entityId }) => entityId === made.id)
        .map(({ action }) => action);
      expect(actions).toEqual(
        ['created', 'updated', 'deactivated', 'updated', 'activated'].map((act) => `webhook_endpoint.${act}`),
      );
    });

    it('rolls the secret, and deletes', async () => {
      const { client } = tenant;
      const { body: made } = await post(input());
      const rolled = await client.post(`/webhook-endpoints/${made.id}/roll-secret`, {});
      expect(rolled.status).toBe(200);
      expect(rolled.body).toMatchObject({ id: made.id, previousSecretEndsAt: expect.any(String) });
      expect(rolled.body.secret).toMatch(/^whsec_/);
      expect(rolled.body.secret).not.toBe(made.secret);
      const again = (body: object) => client.post(`/webhook-endpoints/${made.id}/roll-secret`, body);
      expect((await again({})).body.error).toMatchObject({ reason: 'previous_secret_signs' });
      expect((await again({ gracePeriodSeconds: 0 })).status).toBe(200);
      const deleted = await client.delete(`/webhook-endpoints/${made.id}`);
      expect([deleted.status, deleted.body]).toEqual([204, null]);
      expect((await client.get(`/webhook-endpoints/${made.id}`)).status).toBe(404);
    });

    it('sends a test, and says how it was answered', async () => {
      const { client } = tenant;
      const { body: made } = await post(input());
      const test = () => client.post(`/webhook-endpoints/${made.id}/test`, undefined);
      expect((await test()).body).toEqual({
        deliveryId: expect.any(String),
        status: 200,
        elapsedMs: expect.any(Number),
        error: null,
      });
      const nobody = await client.post(`/webhook-endpoints/${await tenant.findEndpoint()}/test`, undefined);
      expect(nobody.body).toMatchObject({ status: null, error: 'Could not connect (ECONNREFUSED)' });
    });

    it('takes only event types that the key may read', async () => {
      const writer = service.client.as(await service.make.apiKey(tenant.workspace, ['webhooks:write']));
      const create = (events: string[]) => writer.post('/webhook-endpoints', input(events));
      expect(await create(['webhook.test', 'conversation.updated'])).toMatchObject(
        refused(
          'The API key lacks the scope conversations:read, which an endpoint for conversation.updated needs.',
        ),
      );
      expect(await create(['message.created'])).toMatchObject(
        refused(
          'The API key lacks the scope messages:read or conversations:read, which an endpoint for message.created needs.',
        ),
      );
      const reader = await service.make.apiKey(tenant.workspace, ['webhooks:write', 'messages:read']);
      const made = await service.client.as(reader).post('/webhook-endpoints', input());
      expect(made.status).toBe(201);
      const patch = (changes: object) => writer.patch(`/webhook-endpoints/${made.body.id}`, changes);
      // Another address would get what this key may not read.
      expect((await patch({ url: receiver.url('/elsewhere') })).status).toBe(403);
      for (const event of ['audit.event', '*'])
        expect(await post(input([event]))).toMatchObject(
          refused(`An API key may not manage an endpoint for ${event}.`),
        );
    });

    it('lets no key change one that somebody else has made for all events', async () => {
      const { client, workspace } = tenant;
      const endpoints = service.app.get(WebhookEndpointsService, { strict: false });
      const { id } = await endpoints.create(workspace.id, input(['*']), SYSTEM);
      const before = (await client.get(`/webhook-endpoints/${id}`)).body;
      const path = `/webhook-endpoints/${id}`;
      const answers = [
        await client.patch(path, { name: 'Mine' }),
        await client.patch(path, { events: ['message.created'] }),
        await client.patch(path, { active: false }),
        await client.post(`${path}/roll-secret`, {}),
        await client.post(`${path}/test`, undefined),
        await client.delete(path),
      ];
      for (const answer of answers)
        expect(answer).toMatchObject(refused('An API key may not manage an endpoint for *.'));
      expect((await client.get(path)).body).toEqual(before);
    });

    it.each([
      [{ url: 'http://example.com/hook', events: ['message.created'] }, 'url'],
      [{ url: 'https://127.0.0.1:9999/hook', events: ['message.sent'] }, 'events'],
      [{ url: 'https://127.0.0.1:9999/hook', events: [] }, 'events'],
      [{ url: 'https://127.0.0.1:9999/hook', events: ['message.created'], secret: 'mine' }, 'secret'],
    ])('refuses %j', async (body, field) => {
      const answer = await post(body);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'INVALID_BODY']);
      expect(answer.body.error.details).toMatchObject([{ field }]);
    });
  });

  describe('GET /api/v1/messages/search', () => {
    const find = async (query: string) => (await tenant.client.get(`/messages/search?${query}`)).body;

    it('finds messages by their words, newest first, page by page, and none of another workspace', async () => {
      const { workspace, conversation, client } = tenant;
      const stranger = await createTenant(service);
      const texts = ['Where is my parcel?', 'A parcel from Valencia', 'Nothing of that', 'My Parcel again'];
      for (const to of [stranger, tenant])
        for (const text of texts) await service.make.received(to.workspace, to.conversation, text);
      const bodies = ({ data }: any): string[] =>
        data.map(({ excerpt }: any) => excerpt.map(({ text }: any) => text).join(''));
      // Over the API, the rate limit would end so many searches.
      const search = service.app.get(MessageSearchService);
      await waitFor('all messages', async () => {
        const { data } = await search.search(workspace.id, { text: 'parcel' }, SYSTEM);
        return data.length === 3;
      });
      const found = await find('q=parcel');
      expect(bodies(found)).toEqual(['My Parcel again', 'A parcel from Valencia', 'Where is my parcel?']);
      expect(found.data[0]).toEqual({
        id: expect.any(String),
        conversationId: conversation.id,
        senderType: 'CUSTOMER',
        senderAgentId: null,
        createdAt: expect.any(String),
        excerpt: [
          { text: 'My ', isHit: false },
          { text: 'Parcel', isHit: true },
          { text: ' again', isHit: false },
        ],
        sourceChannel: 'WIDGET',
        status: 'OPEN',
        contact: { id: conversation.contact.id, name: 'Zoë Martín' },
      });
      expect(bodies({ data: await client.all('/messages/search?q=my%20parcel', 1) })).toEqual([
        'My Parcel again',
        'Where is my parcel?',
      ]);
      expect(bodies(await find(`q=${encodeURIComponent('"parcel from"')}`))).toEqual([
        'A parcel from Valencia',
      ]);
      expect((await find('q=parcel&status=CLOSED')).data).toEqual([]);
      expect((await find(`q=parcel&cursor=${newId()}`)).data).toHaveLength(3);
      await service.make.updateConversation(workspace, conversation, { status: 'CLOSED' });
      expect((await find('q=parcel&status=CLOSED')).data).toHaveLength(3);
    });

    it.each([
      ['', 'q', 'is required'],
      ['q=%20', 'q', 'must not be blank'],
      [`q=${'x'.repeat(201)}`, 'q', 'must be at most 200 characters'],
      ['q=a&limit=0', 'limit', 'must be a whole number from 1 to 200'],
      ['q=a&text=b', 'text', 'is not a known field'],
    ])('refuses ?%s', async (query, field, message) => {
      const { status, body } = await tenant.client.get(`/messages/search?${query}`);
      expect(status).toBe(400);
      expect(body).toEqual(fieldError('INVALID_QUERY', field, message));
    });
  });
});
