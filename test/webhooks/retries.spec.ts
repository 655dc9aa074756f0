import { createHmac } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { isIPv4 } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { SYSTEM } from '../../src/access/principal';
import { KeyRotationService } from '../../src/secrets/key-rotation.service';
import { HostResolver } from '../../src/outgoing/host-resolver';
import { WebhookDeliveriesService } from '../../src/webhooks/browsing/webhook-deliveries.service';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import ssrf from '../fixtures/ssrf-examples.json';
import { MessagingHost } from '../support/messaging-host';
import { DnsStub } from '../support/dns-stub';
import { HttpsReceiver } from '../support/https-receiver';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import {
  attemptsOf,
  makeRetriesDue,
  deliveriesOf,
  waitForAttempts,
  waitForDeliveries,
} from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';
import { TestCa } from '../support/test-ca';
import { waitFor } from '../support/wait';

/** Number of messages: more than may be in flight to one endpoint at once. */
const MESSAGES = 25;
const SCHEDULE_MS = [2_000, 4_000, 8_000, 16_000, 32_000];

describe('failed deliveries', () => {
  let service: TestService;
  let host: MessagingHost;
  let endpoints: WebhookEndpointsService;
  let receiver: Receiver;
  /** Answers of the receiver by path; every other path answers 200. */
  let answers: Map<string, (response: ServerResponse) => void>;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    host = await MessagingHost.create({ beside: service });
    endpoints = host.get(WebhookEndpointsService);
    receiver = await Receiver.start();
    answers = new Map();
    receiver.https.respond = (response, { path }) => {
      const answer = answers.get(path);
      if (answer) answer(response);
      else response.end('ok');
    };
  });
  afterAll(async () => {
    await host.close();
    await service.close();
    await receiver.stop();
  });

  const failing = async (
    answer: (response: ServerResponse) => void = (response) => response.writeHead(500).end(),
  ) => {
    const subscription = await subscribe(host, receiver);
    answers.set(subscription.path, answer);
    return subscription;
  };
  const happen = ({ workspace, conversation }: Subscription, body?: string) =>
    host.make.received(workspace, conversation, body);
  const attempts = ({ endpoint }: Subscription, count: number) => waitForAttempts(host, endpoint, count);
  const listed = async ({ workspace, endpoint }: Subscription) =>
    (await host.get(WebhookDeliveriesService).list(workspace.id, { endpointId: endpoint.id }, SYSTEM)).data;

  it('are tried again six times, each signed afresh, and then given up', async () => {
    const subscription = await failing();
    const { workspace, endpoint, path } = subscription;
    await happen(subscription);
    for (const [n, delay] of SCHEDULE_MS.entries()) {
      const attempt = (await attempts(subscription, n + 1)).at(-1)!;
      const [delivery] = await deliveriesOf(host, endpoint);
      expect(delivery).toMatchObject({ status: 'PENDING', attempt_count: n + 1, lease_id: null });
      const waits =
        delivery!.next_attempt_at!.getTime() - attempt.attempted_at.getTime() - attempt.duration_ms;
      expect(waits).toBeGreaterThanOrEqual(delay - 5);
      // The wait includes its jitter and the time of recording, but is below the next step.
      expect(waits).toBeLessThan(delay * 2);
      await makeRetriesDue(host, endpoint);
    }
    const made = await attempts(subscription, 6);
    await waitForDeliveries(host, endpoint, 'EXHAUSTED');
    await makeRetriesDue(host, endpoint);
    answers.delete(path);
    await happen(subscription, 'Later');
    await attempts(subscription, 7);

    const all = receiver.received(path);
    expect(all).toHaveLength(7);
    expect(all.at(-1)!.envelope.data.message.body).toBe('Later');
    const received = all.slice(0, 6);
    const { secret } = endpoint;
    expect(new Set(received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(1);
    expect(new Set(received.map(({ envelope }) => envelope.data.message.id)).size).toBe(1);
    expect(new Set(received.map(({ envelope }) => envelope.deliveredAt)).size).toBe(6);
    expect(new Set(received.map(({ headers }) => headers['x-service-signature'])).size).toBe(6);
    for (const { body, headers } of received) {
      expect(headers['x-service-signature']).toBe(
        `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
      );
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }
    // Each attempt is recorded at the moment in its body.
    const stamps = received.map(({ envelope }) => envelope.deliveredAt);
    expect(made.map(({ attempted_at }) => attempted_at.toISOString())).toEqual(stamps);

    const [later, exhausted] = await listed(subscription);
    expect(exhausted).toMatchObject({ event: 'message.created', status: 'exhausted', nextAttemptAt: null });
    expect(exhausted!.attempts).toEqual(
      made.map(({ attempted_at, duration_ms }) => ({
        at: attempted_at,
        statusCode: 500,
        durationMs: duration_ms,
        error: 'status',
      })),
    );
    expect(later).toMatchObject({ status: 'succeeded', attempts: [{ statusCode: 200, error: null }] });

    const list = (status: string) =>
      host
        .get(WebhookDeliveriesService)
        .list(workspace.id, { endpointId: endpoint.id, status } as never, SYSTEM);
    expect((await list('exhausted')).data).toHaveLength(1);
    expect((await list('succeeded')).data).toHaveLength(1);
    expect((await list('pending')).data).toEqual([]);
    await expect(list('lost')).rejects.toMatchObject({ code: 'INVALID_QUERY' });
  });

  it('are retried when they are due', async () => {
    const subscription = await failing();
    await happen(subscription);
    await attempts(subscription, 1);
    answers.delete(subscription.path);
    const [delivered] = await waitForDeliveries(host, subscription.endpoint, 'SUCCEEDED');
    expect(delivered).toMatchObject({ attempt_count: 2 });
  });

  it.each([200, 201, 202, 204, 299])('are none with an answer of %i', async (status) => {
    const subscription = await failing((response) => response.writeHead(status).end());
    await happen(subscription);
    expect((await attempts(subscription, 1))[0]).toMatchObject({ status_code: status, error: null });
    await waitForDeliveries(host, subscription.endpoint, 'SUCCEEDED');
  });

  it.each([400, 401, 404, 410, 429, 500, 503])('are those answered with %i', async (status) => {
    const subscription = await failing((response) => response.writeHead(status).end());
    await happen(subscription);
    expect((await attempts(subscription, 1))[0]).toMatchObject({ status_code: status, error: 'status' });
    await waitForDeliveries(host, subscription.endpoint, 'PENDING');
  });

  it.each([301, 302, 303, 307, 308])(
    'are those answered with the redirect %i, which is not followed',
    async (status) => {
      const target = `/target-${status}`;
      const subscription = await failing((response) =>
        response.writeHead(status, { location: receiver.url(target) }).end(),
      );
      await happen(subscription);
      expect((await attempts(subscription, 1))[0]).toMatchObject({ status_code: status, error: 'redirect' });
      expect(receiver.received(target)).toEqual([]);
    },
  );

  it('are those that the receiver hangs up on', async () => {
    const subscription = await failing((response) => response.destroy());
    await happen(subscription);
    expect((await attempts(subscription, 1))[0]).toMatchObject({
      status_code: null,
      error: 'connection',
      response: null,
    });
  });

  it('are those to a closed port', async () => {
    const gone = await Receiver.start();
    const url = gone.url();
    await gone.stop();
    const subscription = await subscribe(host, url);
    await happen(subscription);
    expect((await attempts(subscription, 1))[0]).toMatchObject({ status_code: null, error: 'connect' });
  });

  it('are those to an untrusted certificate', async () => {
    const stranger = await HttpsReceiver.start(await TestCa.selfSigned(['127.0.0.1']));
    try {
      const subscription = await subscribe(host, `https://127.0.0.1:${stranger.port}/`);
      await happen(subscription);
      expect((await attempts(subscription, 1))[0]).toMatchObject({ status_code: null, error: 'tls' });
      expect(stranger.requests).toEqual([]);
    } finally {
      await stranger.stop();
    }
  });

  it.each(ssrf.refuse_ip.filter((ip) => isIPv4(ip) && !ip.startsWith('127.')))(
    'are those to %s, should it ever be registered',
    async (ip) => {
      const subscription = await subscribe(host, receiver);
      // The endpoint looks as if the rules had been laxer when it was registered.
      const url = receiver.url().replace('127.0.0.1', ip);
      await host.query('UPDATE webhook_endpoints SET url = $2 WHERE id = $1', [
        subscription.endpoint.id,
        url,
      ]);
      await happen(subscription);
      expect((await attempts(subscription, 1))[0]).toMatchObject({
        status_code: null,
        error: 'address_refused',
        response: null,
      });
    },
  );

  describe('keep of the answer', () => {
    it('the first 16 KiB', async () => {
      const answer = Buffer.alloc(20 * 1024, 'abcdefghij');
      const subscription = await failing((response) => response.writeHead(500).end(answer));
      await happen(subscription);
      const [attempt] = await attempts(subscription, 1);
      expect(attempt!.response!.equals(answer.subarray(0, 16 * 1024))).toBe(true);
    });

    it('a NUL byte, and bytes that are no text', async () => {
      const answer = Buffer.from([0x61, 0x00, 0xff, 0xfe, 0x00, 0x62]);
      const subscription = await failing((response) => response.end(answer));
      await happen(subscription);
      const [attempt] = await attempts(subscription, 1);
      expect(attempt!.response).toEqual(answer);
      await waitForDeliveries(host, subscription.endpoint, 'SUCCEEDED');
      expect(receiver.received(subscription.path)).toHaveLength(1);
    });
  });

  describe('of an endpoint that is stopped', () => {
    it.each(['deactivate', 'delete'] as const)('are cancelled at once by %s', async (stop) => {
      const subscription = await failing();
      const { workspace, endpoint, path } = subscription;
      await happen(subscription);
      await happen(subscription);
      await attempts(subscription, 2);

      await endpoints[stop](workspace.id, endpoint.id, SYSTEM);

      expect((await deliveriesOf(host, endpoint)).map(({ status }) => status)).toEqual([
        'CANCELLED',
        'CANCELLED',
      ]);
      await host.wake(endpoint);
      await happen(subscription, 'While it is stopped');
      await subscription.waitForRelay();
      expect(await deliveriesOf(host, endpoint)).toHaveLength(2);
      expect(receiver.received(path)).toHaveLength(2);
    });

    it('end with the attempt that is under way', async () => {
      let answer = () => undefined as void;
      const subscription = await failing((response) => {
        answer = () => void response.writeHead(500).end();
      });
      const { workspace, endpoint, path } = subscription;
      await happen(subscription);
      await receiver.waitForCount(1, path);
      await endpoints.delete(workspace.id, endpoint.id, SYSTEM);
      answer();

      expect((await attempts(subscription, 1))[0]).toMatchObject({ status_code: 500 });
      expect(await deliveriesOf(host, endpoint)).toMatchObject([{ status: 'CANCELLED' }]);
    });

    it('are not taken up again when it is activated, and new events are', async () => {
      const subscription = await failing();
      const { workspace, endpoint, path } = subscription;
      await happen(subscription, 'Before');
      await attempts(subscription, 1);
      await endpoints.deactivate(workspace.id, endpoint.id, SYSTEM);
      await happen(subscription, 'Between');
      await subscription.waitForRelay();
      answers.delete(path);

      expect(await endpoints.activate(workspace.id, endpoint.id, SYSTEM)).toMatchObject({ active: true });
      await happen(subscription, 'After');
      await attempts(subscription, 2);

      expect(receiver.received(path).map(({ envelope }) => envelope.data.message.body)).toEqual([
        'Before',
        'After',
      ]);
      expect((await listed(subscription)).map(({ status }) => status).sort()).toEqual([
        'cancelled',
        'succeeded',
      ]);
    });

    it('leave nothing of it to be seen, nor to be brought back', async () => {
      const { workspace, endpoint } = await subscribe(host, receiver);
      await endpoints.delete(workspace.id, endpoint.id, SYSTEM);

      expect(await endpoints.list(workspace.id, SYSTEM)).toEqual([]);
      for (const call of ['get', 'activate', 'deactivate', 'delete'] as const) {
        await expect(endpoints[call](workspace.id, endpoint.id, SYSTEM)).rejects.toMatchObject({
          code: 'NOT_FOUND',
        });
      }
      const again = await endpoints.create(workspace.id, { url: endpoint.url, events: ['*'] }, SYSTEM);
      expect(again.secret).not.toBe(endpoint.secret);
    });
  });
});

describe('names of receivers', () => {
  let dns: DnsStub;
  let service: TestService;
  let host: MessagingHost;
  let receiver: Receiver;

  beforeAll(async () => {
    dns = await DnsStub.start();
    // The dashboard is in this process, so that its resolver can be pointed at a name server of the test.
    host = await MessagingHost.create();
    service = await TestService.create({ role: 'worker', beside: host });
    for (const { app } of [service, host]) {
      Object.assign(app.get(HostResolver), { servers: [dns.server] });
    }
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    await service.close();
    await host.close();
    await receiver.stop();
    await dns.stop();
  });

  const url = () => receiver.url('/named').replace('127.0.0.1', 'receiver.test');

  it('are asked again for every connection: one that has moved to a private address is refused', async () => {
    dns.set('receiver.test', { A: ['127.0.0.1'] });
    const subscription = await subscribe(host, url());
    const { workspace, conversation, endpoint } = subscription;
    await host.make.received(workspace, conversation);
    const [first] = await receiver.waitForCount(1, '/named');
    expect(first).toMatchObject({ servername: 'receiver.test', headers: { host: new URL(url()).host } });
    await waitForDeliveries(host, endpoint, 'SUCCEEDED');

    receiver.https.closeConnections();
    dns.set('receiver.test', { A: ['10.1.2.3'] });
    await host.make.received(workspace, conversation);
    expect((await waitForAttempts(host, endpoint, 2))[1]).toMatchObject({ error: 'address_refused' });

    dns.set('receiver.test', { A: ['127.0.0.1', '10.1.2.3'] });
    await makeRetriesDue(host, endpoint);
    expect((await waitForAttempts(host, endpoint, 3))[2]).toMatchObject({ error: 'address_refused' });

    dns.set('receiver.test', {});
    await makeRetriesDue(host, endpoint);
    expect((await waitForAttempts(host, endpoint, 4))[3]).toMatchObject({ error: 'dns' });
    expect(receiver.received('/named')).toHaveLength(1);

    dns.set('receiver.test', { A: ['127.0.0.1'] });
    await makeRetriesDue(host, endpoint);
    await waitForDeliveries(host, endpoint, 'SUCCEEDED', 2);
  });

  it.each([
    ['all private', { A: ['10.1.2.3'] }],
    ['mixed', { A: ['93.184.215.14', '10.1.2.3'] }],
    ['mixed across families', { A: ['93.184.215.14'], AAAA: ['fd00:ec2::254'] }],
    ['IPv4 in IPv6', { AAAA: ['::ffff:a9fe:a9fe'] }],
    ['IPv4 behind NAT64', { A: ['93.184.215.14'], AAAA: ['64:ff9b::a9fe:a9fe'] }],
    ['an alias of something private', { A: ['169.254.169.254'], alias: 'metadata.example.net' }],
    ['no address', {}],
    ['unknown', { A: 'NXDOMAIN' as const, AAAA: 'NXDOMAIN' as const }],
    ['out of order', { A: 'SERVFAIL' as const, AAAA: 'SERVFAIL' as const }],
  ])('are refused at creation when their answer is %s', async (_, zone) => {
    dns.set('hooks.example.com', zone);
    const { id } = await host.make.workspace();
    const created = host
      .get(WebhookEndpointsService)
      .create(id, { url: 'https://hooks.example.com/', events: ['*'] }, SYSTEM);
    await expect(created).rejects.toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'url', message: expect.not.stringContaining('10.1.2.3') }],
    });
  });

  it('are accepted when all their addresses are public', async () => {
    dns.set('hooks.example.com', { A: ['93.184.215.14'], AAAA: ['2606:2800:21f:cb07::1'] });
    const { id } = await host.make.workspace();
    await host
      .get(WebhookEndpointsService)
      .create(id, { url: 'https://hooks.example.com/', events: ['*'] }, SYSTEM);
  });
});

describe('secrets under a new key', () => {
  const OLD = `test:${Buffer.alloc(32, 7).toString('base64')}`;
  const NEW = `new:${Buffer.alloc(32, 8).toString('base64')}`;
  let receiver: Receiver;
  let old: MessagingHost;
  let both: MessagingHost;
  let workers: TestService[];
  let subscription: Subscription;

  beforeEach(async () => {
    workers = [];
    receiver = await Receiver.start();
    old = await MessagingHost.create({ secretsKeys: OLD });
    both = await MessagingHost.create({ beside: old, secretsKeys: `${NEW},${OLD}` });
    subscription = await subscribe(old, receiver);
  });
  afterEach(async () => {
    for (const part of [...workers, both, old]) await part.close();
    await receiver.stop();
  });

  async function startWorker(keys: string): Promise<void> {
    workers.push(await TestService.create({ role: 'worker', beside: old, env: { SECRETS_KEYS: keys } }));
  }

  it('sign as before once they are re-encrypted, and the old key can go', async () => {
    const { endpoint, workspace, conversation, path } = subscription;
    for (let n = 0; n < 3; n++) await subscribe(old, receiver);
    expect(await both.get(KeyRotationService).reencrypt()).toEqual({ reencrypted: 4 });
    expect(await both.get(KeyRotationService).reencrypt()).toEqual({ reencrypted: 0 });

    await startWorker(NEW);
    await both.make.received(workspace, conversation);
    const { body, headers } = (await receiver.waitForCount(1, path))[0]!;
    expect(headers['x-service-signature']).toBe(
      `sha256=${createHmac('sha256', endpoint.secret).update(body).digest('hex')}`,
    );
    new Webhook(endpoint.secret).verify(body, headers as Record<string, string>);
  });

  it('keep deliveries pending, without an attempt, while their key is missing', async () => {
    const { endpoint, workspace, conversation, path } = subscription;
    const readable = await both
      .get(WebhookEndpointsService)
      .create(workspace.id, { url: receiver.url('/readable'), events: ['*'] }, SYSTEM);
    await startWorker(NEW);
    for (let n = 0; n < MESSAGES; n++) await old.make.received(workspace, conversation);
    await waitForDeliveries(old, readable, 'SUCCEEDED', MESSAGES);
    const waiting = await waitFor('deliveries that are given back', async () => {
      const rows = await deliveriesOf(old, endpoint);
      const areFree = rows.length === MESSAGES && rows.every(({ lease_id }) => lease_id === null);
      return areFree && rows.some(({ next_attempt_at }) => isMuchLater(next_attempt_at!)) && rows;
    });
    expect(waiting.every(({ status, attempt_count }) => status === 'PENDING' && attempt_count === 0)).toBe(
      true,
    );
    expect(await attemptsOf(old, endpoint)).toEqual([]);

    await workers.pop()!.close();
    await startWorker(`${NEW},${OLD}`);
    await makeRetriesDue(old, endpoint);
    await waitForDeliveries(old, endpoint, 'SUCCEEDED', MESSAGES);
    expect(receiver.received(path)).toHaveLength(MESSAGES);
    expect(await attemptsOf(old, endpoint)).toHaveLength(MESSAGES);
  });

  /**
   * Reports whether a time is beyond the end of any lease: no attempt follows as soon as a lease has ended.
   */
  function isMuchLater(date: Date): boolean {
    return date.getTime() > Date.now() + 30_000;
  }
});
