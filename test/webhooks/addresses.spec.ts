import { SYSTEM } from '../../src/access/principal';
import { WebhookDeliverySummary } from '../../src/webhooks/browsing/webhook-delivery.dto';
import { DnsStub, StubAnswer } from '../support/dns-stub';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const PUBLIC = '93.184.215.14';
const ANSWER = 'an answer that only this network may read';

interface Zone {
  A?: StubAnswer;
  AAAA?: StubAnswer;
  alias?: string;
}

/** Answers of a name server that forbid the sending, and the error of the attempt. */
const REFUSED: [what: string, error: 'address_refused' | 'dns', zone: Zone][] = [
  ['a private address', 'address_refused', { A: ['127.0.0.1'] }],
  ['a private address beside a public one', 'address_refused', { A: [PUBLIC, '127.0.0.1'] }],
  ['a private IPv6 address beside a public IPv4 one', 'address_refused', { A: [PUBLIC], AAAA: ['fd00::1'] }],
  ['a private address inside IPv6', 'address_refused', { AAAA: ['::ffff:127.0.0.1'] }],
  ['an alias of a private address', 'address_refused', { alias: 'inside.example.com', A: ['127.0.0.1'] }],
  ['an alias of itself', 'dns', { alias: 'loop.example.com' }],
  ['that it does not exist', 'dns', { A: 'NXDOMAIN', AAAA: 'NXDOMAIN' }],
  ['that it has no address', 'dns', {}],
  ['that it failed', 'dns', { A: 'SERVFAIL', AAAA: 'SERVFAIL' }],
  ['nothing, ever', 'dns', { A: 'SILENCE', AAAA: 'SILENCE' }],
];

let dns: DnsStub;
let service: TestService;
let tenant: WebhookWorkspace;
let receiver: Receiver;
let hosts = 0;

beforeAll(async () => {
  dns = await DnsStub.start();
  service = await TestService.create({
    role: 'all',
    env: { WEBHOOK_DNS_SERVERS: dns.server, WEBHOOK_ALLOWED_NETWORKS: '' },
  });
  tenant = await WebhookWorkspace.create(service);
});

beforeEach(async () => {
  receiver = await Receiver.start();
  receiver.https.respond = (response) => response.end(ANSWER);
});
afterEach(() => receiver.stop());

/** Returns a URL with a new name for each test, at the receiver's port. */
function newUrl(zone: Zone): { name: string; url: string } {
  const name = zone.alias === 'loop.example.com' ? zone.alias : `hooks-${++hosts}.example.com`;
  dns.set(name, zone);
  return { name, url: `https://${name}:${receiver.https.port}/hook` };
}

/**
 * Expects that a text or an error shows neither the receiver's answer nor its address, and that the receiver
 * got no connection.
 */
function expectNothingShown(shown: unknown): void {
  const text = shown instanceof Error ? shown.message : JSON.stringify(shown);
  expect(text).not.toMatch(/127\.0\.0\.1|fd00::1/);
  expect(text).not.toContain(ANSWER);
  expect(receiver.https.connections).toBe(0);
}

function attempted(endpointId: string): Promise<unknown> {
  return waitFor('an attempt', async () => {
    const [delivery] = await tenant.list({ endpointId, event: 'message.created' });
    return delivery && delivery.attempts.length > 0;
  });
}

async function detailsOf(deliveries: WebhookDeliverySummary[]) {
  return Promise.all(deliveries.map(({ id }) => tenant.deliveries.get(tenant.id, id, SYSTEM)));
}

describe.each(REFUSED)('a name of which the name server says %s', (_, error, zone) => {
  it('is refused at creation', async () => {
    const { name, url } = newUrl(zone);
    const refusal: unknown = await tenant.addEndpoint(url).catch((reason: unknown) => reason);
    expect(refusal).toMatchObject({
      code: 'INVALID_BODY',
      details: [{ field: 'url', message: expect.stringContaining(name) }],
    });
    expectNothingShown(refusal);
  });

  it('is refused at delivery and by the Test button, though it was public at creation', async () => {
    const { name, url } = newUrl({ A: [PUBLIC] });
    const endpoint = await tenant.addEndpoint(url);
    dns.set(name, zone);

    const [result] = await Promise.all([tenant.test(endpoint), tenant.message()]);
    expect(result).toMatchObject({ status: null, error: expect.any(String) });
    await attempted(endpoint.id);
    await tenant.deactivate(endpoint);
    const deliveries = await detailsOf(await tenant.list({ endpointId: endpoint.id }));
    expect(deliveries.map(({ event }) => event).sort()).toEqual(['message.created', 'webhook.test']);
    for (const { attempts } of deliveries)
      expect(attempts[0]).toMatchObject({ statusCode: null, error, response: null });
    expectNothingShown([result, deliveries]);
  });
});

it('accepts a name whose every address is public, and asks for them again with each new connection', async () => {
  const { name, url } = newUrl({ A: [PUBLIC], AAAA: ['2606:2800:21f:cb07:6820:80da:af6b:8b2c'] });
  const asked = () => dns.questions.filter((question) => question.endsWith(` ${name}`)).length;
  const endpoint = await tenant.addEndpoint(url);
  expect(asked()).toBe(2);
  dns.set(name, { A: 'NXDOMAIN' });
  expect(await tenant.test(endpoint)).toMatchObject({ status: null });
  expect(asked()).toBe(4);
});

it('refuses a private literal at creation, by the Test button and at delivery, and connects to none', async () => {
  await expect(tenant.addEndpoint(receiver.url())).rejects.toMatchObject({ code: 'INVALID_BODY' });

  // The endpoint was registered while the operator still allowed its address.
  const permissive = await TestService.create({ role: 'all', beside: service });
  const before = await WebhookWorkspace.create(permissive);
  const endpoint = await before.endpoints.create(
    tenant.id,
    { url: receiver.url(), events: ['message.created'] },
    { type: 'system', id: null },
  );
  await permissive.close();

  const result = await tenant.test(endpoint);
  expect(result).toMatchObject({ status: null, error: expect.any(String) });
  await tenant.message();
  await attempted(endpoint.id);
  for (const { attempts } of await detailsOf(await tenant.list({ endpointId: endpoint.id })))
    expect(attempts[0]).toMatchObject({ statusCode: null, error: 'address_refused', response: null });
  await tenant.deactivate(endpoint);
  expect(receiver.https.connections).toBe(0);
});

it('lets a name that moves into the network keep no more than the connection that it had', async () => {
  const permissive = await TestService.create({
    role: 'all',
    env: { WEBHOOK_DNS_SERVERS: dns.server, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.1/32' },
  });
  try {
    const inside = await WebhookWorkspace.create(permissive);
    dns.set('receiver.test', { A: ['127.0.0.1'] });
    const endpoint = await inside.addEndpoint(`https://receiver.test:${receiver.https.port}/hook`);
    expect(await inside.test(endpoint)).toMatchObject({ status: 200 });
    dns.set('receiver.test', { A: ['127.0.0.1', '127.0.0.2'] });
    receiver.https.closeConnections();
    expect(await inside.test(endpoint)).toMatchObject({ status: null });
    expect(receiver.https.requests).toHaveLength(1);
  } finally {
    await permissive.close();
  }
});

it('connects to no denied network, though it is public or allowed, at creation or later', async () => {
  const env = { WEBHOOK_DNS_SERVERS: dns.server, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' };
  const guarded = await TestService.create({
    role: 'all',
    env: { ...env, WEBHOOK_DENIED_NETWORKS: '127.0.0.1/32,93.184.215.0/24' },
  });
  try {
    const inside = await WebhookWorkspace.create(guarded);
    for (const url of [receiver.url(), newUrl({ A: ['127.0.0.2', '127.0.0.1'] }).url, `https://${PUBLIC}/`])
      await expect(inside.addEndpoint(url)).rejects.toMatchObject({
        code: 'INVALID_BODY',
        details: [{ field: 'url', message: expect.stringContaining('is not allowed') }],
      });

    const moving = newUrl({ A: ['127.0.0.2'] });
    const endpoint = await inside.addEndpoint(moving.url);
    dns.set(moving.name, { A: ['127.0.0.1'] });
    const [result] = await Promise.all([inside.test(endpoint), inside.message()]);
    expect(result).toMatchObject({ status: null, error: expect.stringContaining('is not allowed') });
    await waitFor('an attempt', async () => {
      const [delivery] = await inside.list({ endpointId: endpoint.id, event: 'message.created' });
      return delivery?.attempts[0]?.error === 'address_refused';
    });
    expect(receiver.https.connections).toBe(0);
  } finally {
    await guarded.close();
  }
});
