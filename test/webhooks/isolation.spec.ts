import { ServerResponse } from 'node:http';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { stopAll } from '../support/stop-at-end';
import { WebhookWorkspace } from '../support/webhook-workspace';

let receiver: Receiver;

beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(stopAll);

function send(tenant: WebhookWorkspace, count: number): Promise<unknown> {
  return Promise.all(Array.from({ length: count }, (_, i) => tenant.message(`${i}`)));
}

/** Lets an endpoint answer one delivery: before its first answer it has only one slot. */
async function answerOnce(tenant: WebhookWorkspace, endpoint: { id: string }): Promise<void> {
  await tenant.message('first');
  await tenant.waitForStatus(endpoint, 'succeeded', 1);
}

it('a hanging endpoint has no more than its own slots, and others are delivered to', async () => {
  const service = await TestService.create({
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
  const service = await TestService.create({
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
  const service = await TestService.create({ role: 'all', env: { WEBHOOK_ENDPOINT_CONCURRENCY: '4' } });
  const tenant = await WebhookWorkspace.create(service);
  const endpoint = await tenant.addEndpoint(receiver.url());
  await tenant.deactivate(endpoint);
  await send(tenant, 30);
  await tenant.waitForRelay();
  await tenant.activate(endpoint);
  await answerOnce(tenant, endpoint);
  const held: ServerResponse[] = [];
  receiver.https.respond = (response) => void held.push(response);

  await tenant.recover(endpoint, endpoint.createdAt);
  // Background work has half of the slots, even while no other work wants them.
  await receiver.waitForCount(3);
  await tenant.message('live');
  await receiver.waitFor(({ envelope }) => envelope.data.message.body === 'live');
  expect(receiver.received()).toHaveLength(4);

  receiver.https.respond = (response) => response.end();
  for (const response of held) response.end();
  await tenant.waitForStatus(endpoint, 'succeeded', 32);
});

it('an endpoint has no more connections than slots, however much is delivered', async () => {
  const slots = 4;
  const service = await TestService.create({
    role: 'all',
    env: { WEBHOOK_ENDPOINT_CONCURRENCY: `${slots}` },
  });
  const tenant = await WebhookWorkspace.create(service);
  const endpoint = await tenant.addEndpoint(receiver.url());
  for (let round = 1; round <= 4; round++) {
    await send(tenant, 50);
    await tenant.waitForStatus(endpoint, 'succeeded', round * 50);
  }
  expect(receiver.https.requests).toHaveLength(200);
  expect(receiver.https.connections).toBeLessThanOrEqual(slots);
});
