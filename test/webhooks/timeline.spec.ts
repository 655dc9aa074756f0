import { SYSTEM } from '../../src/access/principal';
import { TimelinePeriod, WebhookTimeline } from '../../src/webhooks/rollups/timeline';
import { RetentionService } from '../../src/operations/retention/retention.service';
import { EndpointStatisticsService } from '../../src/webhooks/rollups/endpoint-statistics.service';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { expectRefusal } from '../support/errors';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';
const MINUTE_MS = 60 * 1000;
const HOUR_MS = 60 * MINUTE_MS;

let service: TestService;
let tenant: WebhookWorkspace;
let endpoint: CreatedWebhookEndpoint;
let receiver: Receiver;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
});

beforeEach(async () => {
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(service);
  endpoint = await tenant.addEndpoint(receiver.url());
});
afterEach(() => receiver.stop());

const timelineOf = (period: TimelinePeriod) =>
  tenant.statistics.getTimeline(tenant.id, endpoint.id, period, SYSTEM);

function totalOf({ buckets }: WebhookTimeline) {
  const total = { succeeded: 0, failed: 0, errors: {} as Record<string, number> };
  for (const { succeeded, failed, errors } of buckets) {
    total.succeeded += succeeded;
    total.failed += failed;
    for (const [error, count] of Object.entries(errors))
      total.errors[error] = (total.errors[error] ?? 0) + count;
  }
  return total;
}

/** Inserts a rollup as a worker writes it: numbers of outcomes, and of durations in each bucket. */
async function insert(startsAt: Date, outcomes: number[], durations: number[]): Promise<void> {
  await service.query(
    `INSERT INTO attempt_rollups (tenant_id, endpoint_id, starts_at, outcomes, durations) VALUES ($1, $2, $3, $4, $5)`,
    [tenant.id, endpoint.id, startsAt, outcomes, durations],
  );
}

it('counts attempts by outcome, and how long they took', async () => {
  await tenant.message();
  await tenant.waitForStatus(endpoint, 'succeeded');
  receiver.https.respond = (response) => setTimeout(() => response.writeHead(500).end(), 300);
  await tenant.exhaust(endpoint);
  receiver.https.respond = (response) => response.writeHead(302).end();
  await tenant.exhaust(endpoint);
  await tenant.test(endpoint);

  const expected = { succeeded: 1, failed: 4, errors: { status: 2, redirect: 2 } };
  for (const period of ['24h', '7d'] as const) {
    const timeline = await waitFor('all attempts', async () => {
      const now = await timelineOf(period);
      return totalOf(now).failed === 4 && now;
    });
    expect(totalOf(timeline)).toEqual(expected);
    const slowest = Math.max(...timeline.buckets.map(({ p95Ms }) => p95Ms ?? 0));
    expect(slowest).toBeGreaterThanOrEqual(300);
    expect(slowest).toBeLessThan(5_000);
  }
  expect(await tenant.statistics.countLast24Hours(tenant.id, [UNKNOWN, endpoint.id, 'none'], SYSTEM)).toEqual(
    [
      { endpointId: UNKNOWN, succeeded: 0, late: 0, exhausted: 0 },
      { endpointId: endpoint.id, succeeded: 1, late: 0, exhausted: 2 },
      { endpointId: 'none', succeeded: 0, late: 0, exhausted: 0 },
    ],
  );
});

it('counts a given-up delivery until it is sent again', async () => {
  receiver.https.respond = (response) => response.writeHead(500).end();
  await tenant.exhaust(endpoint);
  const countDay = async () => {
    const [day] = await tenant.statistics.countLast24Hours(tenant.id, [endpoint.id], SYSTEM);
    return day!;
  };
  await waitFor('the given-up delivery', async () => (await countDay()).exhausted === 1);

  receiver.https.respond = (response) => response.end();
  const [givenUp] = await tenant.list({ endpointId: endpoint.id, status: 'exhausted' });
  await tenant.redeliver(givenUp!);
  await waitFor('the redelivery', async () => (await countDay()).late === 1);
  expect(await countDay()).toEqual({ endpointId: endpoint.id, succeeded: 1, late: 1, exhausted: 0 });
});

it('has a bucket for each five minutes of a day and each hour of a week, up to now', async () => {
  for (const [period, bucketMs, lengthMs] of [
    ['24h', 5 * MINUTE_MS, 24 * HOUR_MS],
    ['7d', HOUR_MS, 7 * 24 * HOUR_MS],
  ] as const) {
    const before = Date.now();
    const { buckets, bucketMinutes } = await timelineOf(period);
    expect(bucketMinutes * MINUTE_MS).toBe(bucketMs);
    expect(buckets).toHaveLength(lengthMs / bucketMs);
    const last = buckets.at(-1)!.from.getTime();
    expect(last + bucketMs).toBeGreaterThan(before);
    expect(last).toBeLessThanOrEqual(Date.now());
    for (const [n, bucket] of buckets.entries()) {
      const from = new Date(last - (buckets.length - 1 - n) * bucketMs);
      expect(bucket).toEqual({ from, succeeded: 0, failed: 0, errors: {}, p95Ms: null });
    }
  }
});

it('puts what workers wrote into its buckets, and leaves out what is older', async () => {
  const now = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;
  const ago = (ms: number) => new Date(now - ms);
  await insert(ago(2 * HOUR_MS), [10, 3], [9, 4]);
  await insert(ago(2 * HOUR_MS - 5 * MINUTE_MS), [1], [0, 0, 0, 0, 1]);
  await insert(ago(3 * 24 * HOUR_MS), [0, 0, 7], [7]);
  await insert(ago(8 * 24 * HOUR_MS), [1_000], [1_000]);

  const week = await timelineOf('7d');
  expect(totalOf(week)).toEqual({ succeeded: 11, failed: 10, errors: { timeout: 3, dns: 7 } });
  const at = (timeline: WebhookTimeline, moment: Date) =>
    timeline.buckets.find(({ from }) => from.getTime() === moment.getTime());
  expect(at(week, ago(2 * HOUR_MS))).toMatchObject({ succeeded: 11, failed: 3, p95Ms: 2 });
  expect(at(week, ago(3 * 24 * HOUR_MS))).toMatchObject({ failed: 7, errors: { dns: 7 }, p95Ms: 1 });
  const day = await timelineOf('24h');
  expect(totalOf(day)).toEqual({ succeeded: 11, failed: 3, errors: { timeout: 3 } });
  expect(at(day, ago(2 * HOUR_MS))).toMatchObject({ succeeded: 10, failed: 3, p95Ms: 1 });
  expect(await tenant.statistics.countLast24Hours(tenant.id, [endpoint.id], SYSTEM)).toMatchObject([
    { succeeded: 11, late: 0, exhausted: 0 },
  ]);
});

it('adds up what several workers count at once', async () => {
  const others = await Promise.all([1, 2].map(() => TestService.create({ role: 'worker', beside: service })));
  try {
    for (let n = 0; n < 60; n++) await tenant.message();
    await tenant.waitForStatus(endpoint, 'succeeded', 60);
  } finally {
    // Closing writes the rollups that are not written yet.
    await Promise.all(others.map((other) => other.close()));
  }
  await waitFor('all attempts', async () => totalOf(await timelineOf('24h')).succeeded >= 60);
  expect(totalOf(await timelineOf('24h'))).toEqual({ succeeded: 60, failed: 0, errors: {} });
});

it('goes after eight days', async () => {
  await insert(new Date(Date.now() - 8 * 24 * HOUR_MS - HOUR_MS), [1], [1]);
  await insert(new Date(Date.now() - 8 * 24 * HOUR_MS + HOUR_MS), [1], [1]);
  await service.app.get(RetentionService, { strict: false }).clean();
  const left = await service.query('SELECT FROM attempt_rollups WHERE tenant_id = $1', [tenant.id]);
  expect(left).toHaveLength(1);
});

it('is shown to its workspace alone', async () => {
  const stranger = await WebhookWorkspace.create(service);
  const statistics = service.app.get(EndpointStatisticsService, { strict: false });
  await insert(new Date(), [5], [5]);
  await expectRefusal(statistics.getTimeline(stranger.id, endpoint.id, '24h', SYSTEM), 'NOT_FOUND');
  await expectRefusal(statistics.getTimeline(tenant.id, 'none', '24h', SYSTEM), 'NOT_FOUND');
  await expectRefusal(statistics.getTimeline(tenant.id, endpoint.id, '1y' as '24h', SYSTEM), 'INVALID_QUERY');
  expect(await statistics.countLast24Hours(stranger.id, [endpoint.id], SYSTEM)).toMatchObject([
    { succeeded: 0, late: 0, exhausted: 0 },
  ]);
});
