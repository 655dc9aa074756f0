import { setTimeout as sleep } from 'node:timers/promises';
import { Responder } from '../support/https-receiver';
import { OwnRedis } from '../support/own-redis';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { startDashboard, WebhookWorkspace } from '../support/webhook-workspace';

/** What users of webhook services complain of most, and that it can't be said of this one. */

const NO_REDIS = 'redis://127.0.0.1:1';

const failing: Responder = (response) => response.writeHead(500).end();
const working: Responder = (response) => response.end('ok');

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

const bodies = (path?: string) =>
  receiver.received(path).map(({ envelope }) => envelope.data.message.body as string);

it('“Events are lost between the commit and the queue”', async () => {
  // The process that commits never reaches a queue, and is gone before anybody else is there.
  const api = await start({ role: 'api' });
  const cutOff = await TestService.create({ beside: api, env: { REDIS_URL: NO_REDIS } });
  const dashboard = await startDashboard(cutOff);
  const tenant = await WebhookWorkspace.create(cutOff, {}, dashboard);
  await tenant.endpoint(receiver.url());
  const key = await cutOff.make.apiKey(tenant.workspace);
  await cutOff.make.agent(tenant.workspace);
  const path = `/conversations/${tenant.conversation.id}/messages`;
  expect((await cutOff.client.as(key).post(path, { body: 'committed' })).status).toBe(201);
  await dashboard.close();
  await cutOff.close();

  await start({ role: 'worker', beside: api });
  await receiver.waitForCount(1);
  expect(bodies()).toEqual(['committed']);
});

it('“One failing endpoint clogs the queue for all”', async () => {
  const service = await start({
    role: 'all',
    env: { WEBHOOK_CONCURRENCY: '6', WEBHOOK_ENDPOINT_CONCURRENCY: '3' },
  });
  const [ill, well] = await Promise.all([WebhookWorkspace.create(service), WebhookWorkspace.create(service)]);
  const hanging = await ill.endpoint(receiver.url('/hangs'));
  const healthy = await well.endpoint(receiver.url('/works'));
  receiver.https.respond = (response, { path }) => {
    if (path === '/works') response.end();
  };
  await send(ill, 30);
  await receiver.waitForCount(3, '/hangs');
  await send(well, 30);
  await well.waitForStatus(healthy, 'succeeded', 30);
  // All the while the other one has had as many under way as it may, and no more.
  expect(receiver.received('/hangs')).toHaveLength(3);
  expect(await ill.list({ endpointId: hanging.id, status: 'pending' })).toHaveLength(30);
  receiver.https.closeConnections();
});

it('“Events for a disabled endpoint are just gone”', async () => {
  const service = await start({ role: 'all' });
  const tenant = await WebhookWorkspace.create(service);
  const endpoint = await tenant.endpoint(receiver.url());
  const disabledAt = new Date();
  await tenant.deactivate(endpoint);
  await send(tenant, 3);
  // Relayed while nobody wanted them: nothing will deliver them by itself.
  await waitFor('relayed', async () => {
    const waiting = await service.query('SELECT FROM events WHERE relayed_at IS NULL LIMIT 1');
    return waiting.length === 0;
  });
  const another = await tenant.endpoint(receiver.url('/another'));
  await tenant.message('3');
  await tenant.waitForStatus(another, 'succeeded');
  await tenant.activate(endpoint);
  expect(bodies()).toEqual([]);

  expect(await tenant.recover(endpoint, disabledAt, true)).toMatchObject({ total: 4 });
  await tenant.recover(endpoint, disabledAt);
  await receiver.waitForCount(4);
  expect(bodies().sort()).toEqual(['0', '1', '2', '3']);
});

it('“There is no way to list what was never delivered”', async () => {
  receiver.https.respond = failing;
  const service = await start({ role: 'all' });
  const tenant = await WebhookWorkspace.create(service);
  const endpoint = await tenant.endpoint(receiver.url());
  const exhausted = await tenant.exhaust(endpoint);
  receiver.https.respond = working;
  await tenant.message();
  await tenant.waitForStatus(endpoint, 'succeeded');
  receiver.https.respond = failing;
  await tenant.message();
  const [waiting] = await tenant.waitForStatus(endpoint, 'pending');
  await tenant.deactivate(endpoint);
  await tenant.waitForStatus(endpoint, 'cancelled');

  const listed = async (status: 'exhausted' | 'cancelled') =>
    (await tenant.list({ status })).map(({ id }) => id);
  expect(await listed('exhausted')).toEqual([exhausted.id]);
  expect(await listed('cancelled')).toEqual([waiting!.id]);
  const { attempts } = await tenant.deliveries.get(tenant.id, exhausted.id);
  expect(attempts).toHaveLength(2);
  for (const attempt of attempts) expect(attempt).toMatchObject({ statusCode: 500, error: 'status' });
});

it('“A new connection is opened for every delivery, until no port is left”', async () => {
  const cap = 4;
  const service = await start({ role: 'all', env: { WEBHOOK_ENDPOINT_CONCURRENCY: `${cap}` } });
  const tenant = await WebhookWorkspace.create(service);
  const endpoint = await tenant.endpoint(receiver.url());
  for (let round = 1; round <= 4; round++) {
    await send(tenant, 50);
    await tenant.waitForStatus(endpoint, 'succeeded', round * 50);
  }
  expect(receiver.https.requests).toHaveLength(200);
  expect(receiver.https.connections).toBeLessThanOrEqual(cap);
});

it('“Workers die for good after a hiccup of the broker”', async () => {
  const redis = await OwnRedis.start();
  try {
    const service = await start({ role: 'all', env: { REDIS_URL: redis.url } });
    const tenant = await WebhookWorkspace.create(service);
    const endpoint = await tenant.endpoint(receiver.url());
    await tenant.message('before');
    await tenant.waitForStatus(endpoint, 'succeeded', 1);

    await redis.kill();
    await tenant.message('while it is away');
    await sleep(1_000);
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
