import { NO_SUBJECT } from '../../src/webhooks/browsing/delivery-contents';
import { hash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { Webhook } from 'standardwebhooks';
import { isGenuine } from '../../examples/verify-webhook';
import { eventCatalog, EventType } from '../../src/outbox/event-catalog';
import { WebhookDeliveriesService } from '../../src/webhooks/browsing/webhook-deliveries.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { WebhookTestService } from '../../src/webhooks/testing/webhook-test.service';
import { Actor, SYSTEM } from '../../src/access/principal';
import ssrf from '../fixtures/ssrf-examples.json';
import { expectRefusal } from '../support/errors';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { deliveriesOf, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';

describe('webhook endpoints', () => {
  let service: TestService;
  let host: MessagingHost;
  let receiver: Receiver;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    host = await MessagingHost.create({ beside: service });
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    await host.close();
    await service.close();
    await receiver.stop();
  });

  describe('creating an endpoint', () => {
    let strict: MessagingHost;
    let tenantId: string;

    beforeAll(async () => {
      strict = await MessagingHost.create({ beside: service, webhookAllowedNetworks: [] });
      tenantId = (await host.make.workspace()).id;
    });
    afterAll(() => strict.close());

    const create = (input: { url: unknown; events?: unknown }) =>
      strict.get(WebhookEndpointsService).create(tenantId, { events: ['*'], ...input } as never, SYSTEM);

    it.each([
      ...ssrf.refuse_url_literal,
      ...ssrf.refuse_url_form,
      ...ssrf.refuse_ip.map((ip) => `https://${ip.includes(':') ? `[${ip}]` : ip}/`),
      ...ssrf.allow_ip.map((ip) => `http://${ip.includes(':') ? `[${ip}]` : ip}/`),
    ])('refuses %s', async (url) => {
      await expect(create({ url })).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field: 'url', message: expect.any(String) }],
      });
    });

    it.each([
      [undefined],
      [null],
      [7],
      [''],
      ['not a url'],
      [['https://1.1.1.1/']],
      [`https://1.1.1.1/${'a'.repeat(2100)}`],
    ])('refuses the url %p', async (url) => {
      await expect(create({ url })).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: expect.arrayContaining([expect.objectContaining({ field: 'url' })]),
      });
    });

    it.each([[undefined], ['*'], [[]], [['message.deleted']], [['*', '*']], [[7]], [['toString']]])(
      'refuses the events %p',
      async (events) => {
        await expect(create({ url: 'https://1.1.1.1/', events })).rejects.toMatchObject({
          code: 'INVALID_BODY',
          details: expect.arrayContaining([expect.objectContaining({ field: 'events' })]),
        });
      },
    );

    it('left nothing behind', async () => {
      expect(await strict.get(WebhookEndpointsService).list(tenantId, SYSTEM)).toEqual([]);
    });

    it.each(ssrf.allow_ip)('accepts %s', async (ip) => {
      const url = `https://${ip.includes(':') ? `[${ip}]` : ip}/hook?a=b`;
      expect(await create({ url })).toMatchObject({ url, events: ['*'], active: true });
    });

    it('takes what cannot be seen off the ends of its address (public report 26)', async () => {
      const { url } = await create({ url: '\ufeffhttps://1.1.1.1/a\u00a0\u200b\n', events: ['*'] });
      expect(url).toBe('https://1.1.1.1/a');
    });

    it('shows the secret once, and stores it encrypted', async () => {
      const { secret, ...shown } = await create({ url: 'https://1.1.1.1/', events: ['message.created'] });
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);

      const endpoints = strict.get(WebhookEndpointsService);
      expect(await endpoints.get(tenantId, shown.id, SYSTEM)).toEqual(shown);
      expect(JSON.stringify(await endpoints.list(tenantId, SYSTEM))).not.toContain(secret);
      const [row] = await host.query<{ secret_ciphertext: Buffer }>(
        'SELECT * FROM webhook_endpoints WHERE id = $1',
        [shown.id],
      );
      expect(JSON.stringify(row)).not.toContain(secret);
      expect(row!.secret_ciphertext.includes(Buffer.from(secret.slice('whsec_'.length), 'base64'))).toBe(
        false,
      );
    });

    it('stops at 50, even for two at once', async () => {
      const { id } = await host.make.workspace();
      const endpoints = strict.get(WebhookEndpointsService);
      const add = () => endpoints.create(id, { url: 'https://1.1.1.1/', events: ['*'] }, SYSTEM);
      for (let n = 0; n < 49; n++) await add();

      const [one, two] = await Promise.allSettled([add(), add()]);

      expect([one.status, two.status].sort()).toEqual(['fulfilled', 'rejected']);
      expect([one, two].find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { code: 'INVALID_BODY', message: expect.stringContaining('50') },
      });
      const [first, ...rest] = await endpoints.list(id, SYSTEM);
      expect(rest).toHaveLength(49);
      await endpoints.delete(id, first!.id, SYSTEM);
      await add();
    });

    it('stops at 1,000 with those that were deleted, until they are forgotten', async () => {
      const { id } = await host.make.workspace();
      const endpoints = strict.get(WebhookEndpointsService);
      const add = () => endpoints.create(id, { url: 'https://1.1.1.1/', events: ['*'] }, SYSTEM);
      const first = await add();
      await endpoints.delete(id, first.id, SYSTEM);
      await service.query(
        `INSERT INTO webhook_endpoints SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
         FROM webhook_endpoints e, generate_series(1, 998) WHERE e.tenant_id = $1`,
        [id],
      );
      await add();
      await expectRefusal(add(), 'INVALID_BODY');
      await service.query('DELETE FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2', [id, first.id]);
      await add();
    });

    it('knows no workspace that does not exist', async () => {
      const endpoints = strict.get(WebhookEndpointsService);
      const input = { url: 'https://1.1.1.1/', events: ['*'] };
      for (const id of ['nonsense', '019ab3ee-0a1b-7c2d-8e3f-4a5b6c7d8e9f']) {
        await expect(endpoints.create(id, input, SYSTEM)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      }
    });
  });

  it('keeps other workspaces’ endpoints out of reach', async () => {
    const [{ workspace }, other] = [await subscribe(host, receiver), await subscribe(host, receiver)];
    const endpoints = host.get(WebhookEndpointsService);
    const { id } = other.endpoint;
    for (const call of [
      () => endpoints.get(workspace.id, id, SYSTEM),
      () => endpoints.activate(workspace.id, id, SYSTEM),
      () => endpoints.deactivate(workspace.id, id, SYSTEM),
      () => endpoints.delete(workspace.id, id, SYSTEM),
      () => host.get(WebhookDeliveriesService).list(workspace.id, { endpointId: id }, SYSTEM),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'NOT_FOUND' });
    }
    await host.make.received(other.workspace, other.conversation);
    await waitForDeliveries(host, other.endpoint, 'SUCCEEDED');
  });

  it('checks an address as it is typed, like a new endpoint’s, and sends nothing there', async () => {
    const { id } = await host.make.workspace();
    const check = (url: unknown, actor: Actor = SYSTEM) =>
      host.get(WebhookEndpointsService).checkUrl(id, url as string, actor);
    const agent = await host.make.agent({ id }, { role: 'AGENT' });
    await expectRefusal(check('https://example.com', { type: 'agent', id: agent.id }), 'FORBIDDEN');
    expect(await check(receiver.url('/typed/../checked'))).toEqual({
      url: receiver.url('/checked'),
    });
    for (const refused of [
      '',
      'https://',
      'http://example.com',
      'https://10.0.0.1/hook',
      'https://u:p@example.com',
      7,
    ])
      expect(await check(refused).catch((error: unknown) => error)).toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field: 'url', message: expect.any(String) }],
      });
    expect(receiver.received('/checked')).toEqual([]);
  });

  describe('the Test button', () => {
    const press = (subscription: Subscription) => subscription.test(subscription.endpoint);

    afterEach(() => {
      receiver.https.respond = (response) => response.end('ok');
    });

    it('reports a receiver’s refusal, after one attempt', async () => {
      receiver.https.respond = (response) => response.writeHead(503, { 'retry-after': '7' }).end('busy');
      const subscription = await subscribe(host, receiver);

      expect(await press(subscription)).toEqual({
        deliveryId: expect.any(String),
        status: 503,
        elapsedMs: expect.any(Number),
        error: 'Answered 503',
        fault: { code: 'answered', values: { status: '503' } },
        phases: {
          lookupMs: expect.any(Number),
          connectMs: expect.any(Number),
          tlsMs: expect.any(Number),
          firstByteMs: expect.any(Number),
        },
        response: { encoding: 'utf8', body: 'busy' },
        responseHeaders: expect.stringMatching(/^retry-after: 7\n/),
      });
      expect(receiver.received(subscription.path)).toHaveLength(1);
      expect(await deliveriesOf(host, subscription.endpoint)).toMatchObject([
        { event_type: 'webhook.test', status: 'EXHAUSTED', attempt_count: 1 },
      ]);
    });

    it('shows a compressed error page as text (public report 25)', async () => {
      const page = 'Die Datenbank ist außer Betrieb.';
      receiver.https.respond = (response) =>
        response
          .writeHead(500, { 'x-long': 'x'.repeat(3_000), 'content-encoding': 'gzip' })
          .end(gzipSync(page));
      const { response } = await press(await subscribe(host, receiver));
      expect(response).toEqual({
        encoding: 'base64',
        body: gzipSync(page).toString('base64'),
        decoded: page,
      });
    });

    it('reports a receiver that hangs up', async () => {
      receiver.https.respond = (response) => response.destroy();
      const result = await press(await subscribe(host, receiver));
      expect(result).toEqual({
        deliveryId: expect.any(String),
        status: null,
        elapsedMs: expect.any(Number),
        error: expect.any(String),
        fault: { code: 'connection_broken', values: { detail: expect.any(String) } },
        phases: expect.objectContaining({ firstByteMs: null }),
        response: null,
        responseHeaders: null,
      });
    });

    it('reports that nobody listens', async () => {
      const gone = await Receiver.start();
      const url = gone.url();
      await gone.stop();
      const result = await press(await subscribe(host, url));
      expect(result).toMatchObject({
        status: null,
        error: expect.stringContaining('ECONNREFUSED'),
        phases: { connectMs: null, tlsMs: null, firstByteMs: null },
      });
    });

    it('reports an address that is refused by now', async () => {
      const subscription = await subscribe(host, receiver);
      const strict = await MessagingHost.create({ beside: service, webhookAllowedNetworks: [] });
      try {
        const { workspace, endpoint } = subscription;
        const result = await strict.get(WebhookTestService).test(workspace.id, endpoint.id, SYSTEM);
        expect(result).toMatchObject({
          status: null,
          error: 'The address 127.0.0.1 is not a public one',
        });
        expect(receiver.received(subscription.path)).toEqual([]);
      } finally {
        await strict.close();
      }
    });

    it('is in the endpoint’s deliveries like any other', async () => {
      // The endpoint does not get the audit event of the test.
      const subscription = await subscribe(host, receiver, { events: ['message.created'] });
      await press(subscription);
      const { data } = await host
        .get(WebhookDeliveriesService)
        .list(subscription.workspace.id, { endpointId: subscription.endpoint.id }, SYSTEM);
      expect(data).toEqual([
        {
          id: expect.any(String),
          endpointId: subscription.endpoint.id,
          eventId: expect.any(String),
          event: 'webhook.test',
          subject: NO_SUBJECT,
          status: 'succeeded',
          createdAt: expect.any(Date),
          nextAttemptAt: null,
          attempts: [{ at: expect.any(Date), statusCode: 200, durationMs: expect.any(Number), error: null }],
        },
      ]);
    });

    it('sends an example of another event, marked as a test, and tells the audit log its hash', async () => {
      const subscription = await subscribe(host, receiver, { events: ['conversation.updated'] });
      const { endpoint, path } = subscription;
      const { message, conversationId } = eventCatalog['message.created'].example;
      const data = { conversationId, message: { ...message, body: 'Größe 42?' } };
      const { deliveryId, status } = await subscription.sendExample(endpoint, {
        event: 'message.created',
        data,
      });
      expect(status).toBe(200);

      const [webhook] = receiver.received(path);
      expect(webhook!.headers).toMatchObject({
        'x-service-event': 'message.created',
        'x-service-test': 'true',
        'x-service-delivery': deliveryId,
        'webhook-id': `test_${deliveryId}`,
      });
      expect(webhook!.envelope).toMatchObject({ event: 'message.created', data });
      const signature = String(webhook!.headers['x-service-signature']);
      expect(isGenuine(webhook!.body, signature, endpoint.secret)).toBe(true);
      new Webhook(endpoint.secret).verify(webhook!.body, webhook!.headers as Record<string, string>);
      expect((await subscription.auditOf(endpoint))[0]).toMatchObject({
        action: 'webhook_endpoint.tested',
        metadata: { event: 'message.created', bodySha256: hash('sha256', webhook!.body, 'hex') },
      });

      const { request } = await subscription.deliveries.get(subscription.id, deliveryId, SYSTEM);
      expect(request!.body).toBe(webhook!.body.toString());
      expect(request!.headers).toContainEqual({ name: 'webhook-id', value: `test_${deliveryId}` });
      expect(await subscription.list()).toMatchObject([{ id: deliveryId, event: 'webhook.test' }]);
      await subscription.redeliver({ id: deliveryId });
      const [, again] = await receiver.waitForCount(2, path);
      expect(again!.headers).toMatchObject({ 'x-service-test': 'true', 'webhook-id': `test_${deliveryId}` });
      expect(again!.envelope.data).toEqual(data);
    });

    it('sends the catalog’s example unless it is edited, and nothing that could be taken for an event', async () => {
      const subscription = await subscribe(host, receiver);
      const { endpoint, path } = subscription;
      const { example } = eventCatalog['conversation.updated'];
      await subscription.sendExample(endpoint, { event: 'conversation.updated' });
      expect(receiver.received(path)[0]!.envelope.data).toEqual(example);

      const other = '019ab3f4-5c1e-7d2a-9b34-000000000000';
      for (const data of [
        { ...example, conversationId: other },
        { ...example, conversationId: 'mine' },
        { ...example, assignedAgentId: other },
        { ...example, status: 'GONE' },
        { ...example, more: 1 },
        { status: 'OPEN' },
        [],
        'text',
        { ...example, status: 'OPEN\0' },
      ])
        await expect(
          subscription.sendExample(endpoint, { event: 'conversation.updated', data: data as object }),
        ).rejects.toMatchObject({ code: 'INVALID_BODY', details: [{ field: 'data' }] });
      const message = eventCatalog['message.created'].example;
      for (const body of ['x'.repeat(40_000), 'NUL \0'])
        await expectRefusal(
          subscription.sendExample(endpoint, {
            event: 'message.created',
            data: { ...message, message: { ...message.message, body } },
          }),
          'INVALID_BODY',
        );
      for (const event of ['webhook.test', 'message.deleted'])
        await expectRefusal(
          subscription.sendExample(endpoint, { event: event as EventType }),
          'INVALID_BODY',
        );
      expect(receiver.received(path)).toHaveLength(1);
    });

    it('sends an audit event to workspaces with the entitlement alone', async () => {
      const without = await subscribe(host, receiver, { workspace: { planTier: 'PRO' } });
      await expectRefusal(without.sendExample(without.endpoint, { event: 'audit.event' }), 'FORBIDDEN');
      const having = await subscribe(host, receiver, { workspace: { planTier: 'ENTERPRISE' } });
      const data = { ...eventCatalog['audit.event'].example, metadata: { id: 'CRM' } };
      await expectRefusal(
        having.sendExample(having.endpoint, { event: 'audit.event', data }),
        'INVALID_BODY',
      );
      expect(await having.sendExample(having.endpoint, { event: 'audit.event' })).toMatchObject({
        status: 200,
      });
      expect(receiver.received(without.path)).toEqual([]);
    });

    it('knows no endpoint of another workspace, and none that is deleted', async () => {
      const [subscription, other] = [await subscribe(host, receiver), await subscribe(host, receiver)];
      await expect(subscription.test(other.endpoint)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      const { workspace, endpoint } = subscription;
      await host.get(WebhookEndpointsService).delete(workspace.id, endpoint.id, SYSTEM);
      await expect(press(subscription)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });
  });
});
