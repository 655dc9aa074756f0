import { SYSTEM } from '../../src/access/principal';
import { WebhookDay } from '../../src/webhooks/rollups/endpoint-statistics.service';
import { expectRefusal } from '../support/errors';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { insertPendingDeliveries } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

const HALF_HOUR_MS = 30 * 60 * 1000;

let service: TestService;
let tenant: WebhookWorkspace;
let receiver: Receiver;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
});

beforeEach(async () => {
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(service);
});
afterEach(() => receiver.stop());

const readDay = () => tenant.statistics.getDay(tenant.id, SYSTEM);
const totalOf = ({ buckets }: WebhookDay) =>
  buckets.reduce(
    (sum, one) => ({
      succeeded: sum.succeeded + one.succeeded,
      late: sum.late + one.late,
      exhausted: sum.exhausted + one.exhausted,
    }),
    { succeeded: 0, late: 0, exhausted: 0 },
  );

it('has a bucket for each half an hour up to now, also while there is nothing', async () => {
  const { pending, exhausted, buckets } = await readDay();
  expect({ pending, exhausted }).toEqual({ pending: 0, exhausted: 0 });
  expect(buckets).toHaveLength(48);
  const times = buckets.map(({ from }) => from.getTime());
  expect(times.map((time) => time - times[0]!)).toEqual(times.map((_, n) => n * HALF_HOUR_MS));
  expect(Date.now() - times.at(-1)!).toBeLessThan(2 * HALF_HOUR_MS);
});

it('sums deliveries over all endpoints, and counts one as given up until it arrives', async () => {
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
  const day = await waitFor('the end of the delivery', async () => {
    const now = await readDay();
    return totalOf(now).exhausted > 0 && now;
  });
  expect(totalOf(day)).toEqual({ succeeded: 2, late: 0, exhausted: 1 });
  expect(day.exhausted).toBe(1);

  receiver.https.respond = (response) => response.end();
  await tenant.redeliver(failed);
  await tenant.waitForStatus(first, 'succeeded', 2);
  const later = await waitFor('its arrival', async () => {
    const now = await readDay();
    return totalOf(now).late > 0 && now;
  });
  expect(totalOf(later)).toEqual({ succeeded: 3, late: 1, exhausted: 1 });
  expect(later.exhausted).toBe(0);
});

it('counts a delivery that arrives at the second attempt once, as one that arrived late', async () => {
  const endpoint = await tenant.addEndpoint(receiver.url());
  receiver.https.respond = (response) => response.writeHead(500).end();
  await tenant.message();
  await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length > 0);
  receiver.https.respond = (response) => response.end();
  await tenant.waitForStatus(endpoint, 'succeeded');
  const day = await waitFor('its arrival', async () => {
    const now = await readDay();
    return totalOf(now).succeeded > 0 && now;
  });
  expect(totalOf(day)).toEqual({ succeeded: 1, late: 1, exhausted: 0 });
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
    async () => totalOf(await other.statistics.getDay(other.id, SYSTEM)).succeeded === 1,
  );
  expect(totalOf(await readDay())).toEqual({ succeeded: 0, late: 0, exhausted: 0 });
  const agent = await service.make.agent({ id: tenant.id }, { role: 'AGENT' });
  await expectRefusal(tenant.statistics.getDay(tenant.id, { type: 'agent', id: agent.id }), 'FORBIDDEN');
});
