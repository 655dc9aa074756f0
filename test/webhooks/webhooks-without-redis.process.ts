import { MessagingHost } from '../support/messaging-host';
import { OwnRedis } from '../support/own-redis';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { stopAll } from '../support/stop-at-end';
import { waitForAttempts } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

const NO_REDIS = 'redis://127.0.0.1:1';
const MARGIN_MS = 1_000;

let receiver: Receiver;

beforeEach(async () => {
  receiver = await Receiver.start();
});
afterEach(stopAll);

const bodies = () => receiver.received().map(({ envelope }) => envelope.data.message.body as string);

it('a worker delivers what a process without Redis committed before it ended', async () => {
  const api = await TestService.create({ role: 'api' });
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

  await TestService.create({ role: 'worker', beside: api });
  await receiver.waitForCount(1);
  expect(bodies()).toEqual(['committed']);
});

it('keeps the beginning of the retry schedule without Redis, within a second', async () => {
  const service = await TestService.create({ role: 'all', env: { REDIS_URL: NO_REDIS } });
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

it('a worker goes on after Redis was killed and started again, empty', async () => {
  const redis = await OwnRedis.start();
  const service = await TestService.create({ role: 'all', env: { REDIS_URL: redis.url } });
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
});
