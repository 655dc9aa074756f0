import { SYSTEM } from '../../../src/common/principal';
import { WebhookDay } from '../../../src/webhooks/rollups/endpoint-statistics.service';
import { expectRefusal } from '../../support/errors';
import { Receiver } from '../../support/receiver';
import { TestService } from '../../support/service';
import { waitFor } from '../../support/wait';
import { insertPendingDeliveries, WebhookWorkspace } from '../../support/webhook-workspace';

const HALF_HOUR_MS = 30 * 60 * 1000;

let service: TestService;
let tenant: WebhookWorkspace;
let receiver: Receiver;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
});
afterAll(() => service.close());

beforeEach(async () => {
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(service);
});
afterEach(() => receiver.stop());

const readDay = () => tenant.statistics.getDay(tenant.id, SYSTEM);
const totalOf = ({ buckets }: WebhookDay) =>
  buckets.reduce((sum, one) => [sum[0]! + one.succeeded, sum[1]! + one.failed], [0, 0]);

it('has a bucket for each half an hour up to now, also while there is nothing', async () => {
  const { pending, exhausted, buckets } = await readDay();
  expect({ pending, exhausted }).toEqual({ pending: 0, exhausted: 0 });
  expect(buckets).toHaveLength(48);
  const times = buckets.map(({ from }) => from.getTime());
  expect(times.map((time) => time - times[0]!)).toEqual(times.map((_, n) => n * HALF_HOUR_MS));
  expect(Date.now() - times.at(-1)!).toBeLessThan(2 * HALF_HOUR_MS);
});

it('sums attempts over all endpoints, and counts a delivery as failed until it arrives', async () => {
  const [first, second] = [
    await tenant.addEndpoint(receiver.url('/a')),
    await tenant.addEndpoint(receiver.url('/b')),
  ];
  await tenant.message();
  await tenant.waitForStatus(first, 'succeeded');
  await tenant.waitForStatus(second, 'succeeded');
  await tenant.deactivate(second);
  receiver.https.respond = (response) => response.writeHead(500).end();
  const failed = await tenant.exhaust(first);
  await tenant.test(first);
  const day = await waitFor('all attempts', async () => {
    const now = await readDay();
    return totalOf(now)[1] === 2 && now;
  });
  expect(totalOf(day)).toEqual([2, 2]);
  expect(day.exhausted).toBe(1);

  receiver.https.respond = (response) => response.end();
  await tenant.redeliver(failed);
  await tenant.waitForStatus(first, 'succeeded', 2);
  expect((await readDay()).exhausted).toBe(0);
});

it('counts what active endpoints are owed, and stops at one more than a thousand', async () => {
  const endpoint = await tenant.addEndpoint(receiver.url());
  await service.query(`UPDATE workspaces SET suspended_at = now() WHERE id = $1`, [tenant.id]);
  await insertPendingDeliveries(service, { workspace: tenant.workspace, endpoint }, 1_500);
  expect((await readDay()).pending).toBe(1_001);
  await tenant.deactivate(endpoint);
  expect((await readDay()).pending).toBe(0);
});

it('does not count what waits of types that an endpoint takes no more', async () => {
  const endpoint = await tenant.addEndpoint(receiver.url());
  await service.query(`UPDATE workspaces SET suspended_at = now() WHERE id = $1`, [tenant.id]);
  await insertPendingDeliveries(service, { workspace: tenant.workspace, endpoint }, 1_500);
  const last = await service.query(
    `UPDATE pending_deliveries SET event_type = 'conversation.created' WHERE (tenant_id, id) IN (
       SELECT tenant_id, id FROM pending_deliveries WHERE endpoint_id = $1
       ORDER BY recovered, next_attempt_at DESC, id DESC LIMIT 3) RETURNING id`,
    [endpoint.id],
  );
  expect(last).toHaveLength(3);
  // By SQL, so that no worker cancels the others.
  await service.query(`UPDATE webhook_endpoints SET events = '{conversation.created}' WHERE id = $1`, [
    endpoint.id,
  ]);
  expect((await readDay()).pending).toBe(3);
});

it('shows nothing of another workspace, and nothing to an agent who manages nothing', async () => {
  const other = await WebhookWorkspace.create(service);
  const endpoint = await other.addEndpoint(receiver.url());
  await other.message();
  await other.waitForStatus(endpoint, 'succeeded');
  await waitFor(
    'its own attempt',
    async () => totalOf(await other.statistics.getDay(other.id, SYSTEM))[0] === 1,
  );
  expect(totalOf(await readDay())).toEqual([0, 0]);
  const agent = await service.make.agent({ id: tenant.id }, { role: 'AGENT' });
  await expectRefusal(tenant.statistics.getDay(tenant.id, { type: 'agent', id: agent.id }), 'FORBIDDEN');
});
