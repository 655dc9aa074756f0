import { ServerResponse } from 'node:http';
import { MessagingHost } from '../../support/messaging-host';
import { OwnRedis } from '../../support/own-redis';
import { Receiver } from '../../support/receiver';
import { TestService } from '../../support/service';
import { moment } from '../../support/wait';
import { waitForAttempts, WebhookWorkspace } from '../../support/webhook-workspace';

const NO_REDIS = 'redis://127.0.0.1:1';
const MARGIN_MS = 1_000;

let receiver: Receiver;
const services: TestService[] = [];

beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(async () => {
  await receiver.stop();
  for (const service of services.splice(0).reverse()) await service.close();
});

async function start(...options: Parameters<typeof TestService.create>): Promise<TestService> {
  const service = await TestService.create(...options);
  services.push(service);
  return service;
}

function send(tenant: WebhookWorkspace, count: number): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, (_, i) => tenant.message(`${i}`)));
}

/** Lets an endpoint answer one delivery: before its first answer it has only one slot. */
async function answerOnce(tenant: WebhookWorkspace, endpoint: { id: string }): Promise<void> {
  await tenant.message('first');
  await tenant.waitForStatus(endpoint, 'succeeded', 1);
}

const bodies = () => receiver.received().map(({ envelope }) => envelope.data.message.body as string);

it('a worker delivers what a process without Redis committed before it ended', async () => {
  const api = await start({ role: 'api' });
  const cutOff = await TestService.create({ beside: api, env: { REDIS_URL: NO_REDIS } });
  const host = await MessagingHost.create({ beside: api, redisUrl: NO_REDIS });
  const tenant = await WebhookWorkspace.create(host);
  await tenant.addEndpoint(receiver.url());
  const key = await cutOff.make.apiKey(tenant.workspace);
  await cutOff.make.agent(tenant.workspace);
  const path = `/conversations/${tenant.conversation.id}/messages`;
  expect((await cutOff.client.as(key).post(path, { body: 'committed' })).status).toBe(201);
  await host.close();
  await cutOff.close();

  await start({ role: 'worker', beside: api });
  await receiver.waitForCount(1);
  expect(bodies()).toEqual(['committed']);
});

it('a hanging endpoint has no more than its own slots, and others are delivered to', async () => {
  const service = await start({
    role: 'all',
    env: { WEBHOOK_CONCURRENCY: '6', WEBHOOK_ENDPOINT_CONCURRENCY: '3' },
  });
  const [ill, well] = await Promise.all([WebhookWorkspace.create(service), WebhookWorkspace.create(service)]);
  const hanging = await ill.addEndpoint(receiver.url('/hangs'));
  const healthy = await well.addEndpoint(receiver.url('/works'));
  await answerOnce(ill, hanging);
  receiver.https.respond = (response, { path }) => {
    if (path === '/works') response.end();
  };
  await send(ill, 30);
  await receiver.waitForCount(4, '/hangs');
  await send(well, 30);
  await well.waitForStatus(healthy, 'succeeded', 30);
  expect(receiver.received('/hangs')).toHaveLength(4);
  // Events without a slot wait in the event queue first.
  await ill.waitForStatus(hanging, 'pending', 30);
  receiver.https.closeConnections();
});

it('gives two workspaces their share of one process, and a third one a slot at once', async () => {
  const service = await start({
    role: 'all',
    env: { WEBHOOK_CONCURRENCY: '12', WEBHOOK_ENDPOINT_CONCURRENCY: '10' },
  });
  const [first, second, third] = await Promise.all([1, 2, 3].map(() => WebhookWorkspace.create(service)));
  for (const [n, tenant] of [first!, second!, third!].entries()) {
    await answerOnce(tenant, await tenant.addEndpoint(receiver.url(`/${n}`)));
  }
  receiver.https.respond = (response, { path }) => {
    if (path === '/2') response.end();
  };
  await send(first!, 20);
  await receiver.waitForCount(7, '/0');
  await send(second!, 20);
  await receiver.waitForCount(4, '/1');
  await third!.message();
  await receiver.waitForCount(2, '/2');
  expect(receiver.received('/0')).toHaveLength(7);
  expect(receiver.received('/1')).toHaveLength(4);
  receiver.https.closeConnections();
});

it('delivers what is live before what is recovered', async () => {
  const service = await start({ role: 'all', env: { WEBHOOK_ENDPOINT_CONCURRENCY: '4' } });
  const tenant = await WebhookWorkspace.create(service);
  const since = await moment();
  await send(tenant, 30);
  await tenant.waitForRelay();
  const endpoint = await tenant.addEndpoint(receiver.url());
  await answerOnce(tenant, endpoint);
  const held: ServerResponse[] = [];
  receiver.https.respond = (response) => void held.push(response);

  await tenant.recover(endpoint, since);
  // Background work has half of the slots, even while no other work wants them.
  await receiver.waitForCount(3);
  await tenant.message('live');
  await receiver.waitFor(({ envelope }) => envelope.data.message.body === 'live');
  expect(receiver.received()).toHaveLength(4);

  receiver.https.respond = (response) => response.end();
  for (const response of held) response.end();
  await tenant.waitForStatus(endpoint, 'succeeded', 32);
});

it('keeps the beginning of the retry schedule without Redis, within a second', async () => {
  const service = await start({ role: 'all', env: { REDIS_URL: NO_REDIS } });
  const tenant = await WebhookWorkspace.create(service);
  const endpoint = await tenant.addEndpoint(receiver.url());
  receiver.https.respond = (response) => response.writeHead(500).end();
  await tenant.message();
  const attempts = await waitForAttempts(service, endpoint, 4, 60_000);

  const ends = attempts.map(({ attempted_at, duration_ms }) => attempted_at.getTime() + duration_ms);
  const gaps = attempts.slice(1).map(({ attempted_at }, n) => attempted_at.getTime() - ends[n]!);
  for (const [n, gap] of gaps.entries()) {
    const backoff = 2_000 * 2 ** n;
    expect(gap).toBeGreaterThanOrEqual(backoff - 5);
    // The gap includes the jitter, the poll's second, and the delays of a busy machine.
    expect(gap).toBeLessThan(backoff * 1.1 + 1_000 + MARGIN_MS);
  }
});

it('an endpoint has no more connections than slots, however much is delivered', async () => {
  const slots = 4;
  const service = await start({ role: 'all', env: { WEBHOOK_ENDPOINT_CONCURRENCY: `${slots}` } });
  const tenant = await WebhookWorkspace.create(service);
  const endpoint = await tenant.addEndpoint(receiver.url());
  for (let round = 1; round <= 4; round++) {
    await send(tenant, 50);
    await tenant.waitForStatus(endpoint, 'succeeded', round * 50);
  }
  expect(receiver.https.requests).toHaveLength(200);
  expect(receiver.https.connections).toBeLessThanOrEqual(slots);
});

it('a worker goes on after Redis was killed and started again, empty', async () => {
  const redis = await OwnRedis.start();
  try {
    const service = await start({ role: 'all', env: { REDIS_URL: redis.url } });
    const tenant = await WebhookWorkspace.create(service);
    const endpoint = await tenant.addEndpoint(receiver.url());
    await tenant.message('before');
    await tenant.waitForStatus(endpoint, 'succeeded', 1);

    await redis.kill();
    await tenant.message('while it is away');
    await tenant.waitForRelay();
    await redis.restart();
    await tenant.message('after');
    await receiver.waitForCount(3);
    expect(bodies().sort()).toEqual(['after', 'before', 'while it is away']);
    await tenant.waitForStatus(endpoint, 'succeeded', 3);
    await services.pop()!.close();
  } finally {
    await redis.stop();
  }
});
