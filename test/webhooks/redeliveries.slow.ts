import { Client } from 'pg';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { WebhookDeliveriesService } from '../../src/webhooks/browsing/webhook-deliveries.service';
import { deliveryIdOf } from '../../src/webhooks/deliveries/delivery';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { WebhookRecoveriesService } from '../../src/webhooks/recoveries/webhook-recoveries.service';
import {
  RedeliverMatching,
  WebhookRecoverySummary,
} from '../../src/webhooks/recoveries/webhook-recovery.dto';
import { MessagingHost } from '../support/messaging-host';
import { expectRefusal } from '../support/errors';
import { waitForLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { letTimePass, waitFor } from '../support/wait';
import { deliveriesOf } from '../support/stored-deliveries';
import { WebhookWorkspace } from '../support/webhook-workspace';

const UNKNOWN = '01900000-0000-7000-8000-000000000000';
/** Number of deliveries that takes several steps, yet is too small for a redelivery to pause. */
const THOUSANDS = 2_800;

type Filter = Omit<RedeliverMatching, 'endpointId'>;

let service: TestService;
let host: MessagingHost;
let tenant: WebhookWorkspace;
let endpoint: CreatedWebhookEndpoint;
let receiver: Receiver;
const workers: TestService[] = [];

beforeAll(async () => {
  service = await TestService.create({ role: 'api' });
  host = await MessagingHost.create({ beside: service });
});

beforeEach(async () => {
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(host);
  endpoint = await tenant.addEndpoint(receiver.url());
});
afterEach(async () => {
  await stopWorkers();
  await receiver.stop();
});

async function startWorker(): Promise<void> {
  workers.push(await TestService.create({ role: 'worker', beside: service }));
}

async function stopWorkers(): Promise<void> {
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
}

const start = (filter: Filter, dryRun = false, to: { id: string } = endpoint) =>
  host
    .get(WebhookRecoveriesService)
    .redeliverMatching(tenant.id, { endpointId: to.id, ...filter }, { dryRun }, SYSTEM);

const totalOf = async (filter: Filter) => (await start(filter, true)).total;

interface Ended {
  status: 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';
  statusCode?: number;
  error?: string;
  /** Body of the message in the event. */
  body?: string;
  type?: string;
  count?: number;
}

/** Inserts finished deliveries with this outcome into the history. */
async function insert(
  { status, statusCode, error, body = 'again', type = 'message.created', count = 1 }: Ended,
  { id: tenantId, conversation }: WebhookWorkspace = tenant,
  { id: endpointId }: { id: string } = endpoint,
): Promise<string[]> {
  const eventIds = Array.from({ length: count }, newId);
  const ids = eventIds.map((eventId) => deliveryIdOf(eventId, endpointId));
  const data = { conversationId: conversation.id, message: { id: '1', body } };
  await service.query(
    `WITH event AS (
       INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, id, $2, $3, now() FROM unnest($4::uuid[]) AS id
     )
     INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
       finished_at, attempted_at, duration_ms, status_code, error)
     SELECT $1, id, 1, $6, event_id, $2, $7, 6, now(), now(), 1, $8, $9
     FROM unnest($5::uuid[], $4::uuid[]) AS d (id, event_id)`,
    [
      tenantId,
      type,
      JSON.stringify(data),
      eventIds,
      ids,
      endpointId,
      status,
      statusCode ?? null,
      error ?? null,
    ],
  );
  await letTimePass(2); // the last of them is before the start's own moment
  return ids;
}

function bodies(): string[] {
  return receiver
    .received()
    .map(({ envelope }) => envelope.data.message.body as string)
    .sort();
}

const progressOf = ({ id }: Pick<WebhookRecoverySummary, 'id'>) =>
  host.get(WebhookRecoveriesService).get(tenant.id, id!, SYSTEM);

async function countByStatus(): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of await deliveriesOf(service, endpoint)) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

it('counts what a filter matches, and delivers it again, and nothing else', async () => {
  await insert({ status: 'SUCCEEDED', statusCode: 200, body: 'succeeded' });
  await insert({ status: 'EXHAUSTED', statusCode: 404, error: 'status', body: 'not found' });
  await insert({ status: 'EXHAUSTED', statusCode: 503, error: 'status', body: 'away' });
  await insert({ status: 'EXHAUSTED', error: 'timeout', body: 'slow' });
  await insert({ status: 'CANCELLED', body: 'cancelled' });
  await insert({ status: 'EXHAUSTED', statusCode: 503, error: 'status', type: 'webhook.test' });
  const other = await tenant.addEndpoint(receiver.url('/other'));
  await insert({ status: 'EXHAUSTED', statusCode: 503, error: 'status' }, tenant, other);

  const since = new Date(0);
  expect(await totalOf({ since })).toBe(4);
  expect(await totalOf({ since, includeSucceeded: true })).toBe(5);
  expect(await totalOf({ status: 'succeeded' })).toBe(1);
  expect(await totalOf({ statusCode: '200' })).toBe(0);
  expect(await totalOf({ statusCode: '200', includeSucceeded: true })).toBe(1);
  expect(await totalOf({ status: 'exhausted' })).toBe(3);
  expect(await totalOf({ status: 'exhausted', event: 'webhook.test' })).toBe(1);
  expect(await totalOf({ statusCode: '4xx' })).toBe(1);
  expect(await totalOf({ error: 'timeout' })).toBe(1);
  expect(await totalOf({ conversationId: tenant.conversation.id })).toBe(4);
  expect(await totalOf({ conversationId: UNKNOWN })).toBe(0);
  expect(await totalOf({ until: new Date(Date.now() - 60_000) })).toBe(0);
  expect(await totalOf({ since: new Date(Date.now() - 60_000), statusCode: '5xx' })).toBe(1);

  const filter = { status: 'exhausted' as const };
  const started = await start(filter);
  expect(started).toEqual({
    id: expect.any(String),
    endpointId: endpoint.id,
    kind: 'matching',
    filter: { endpointId: endpoint.id, ...filter },
    since: null,
    until: expect.any(Date),
    status: 'running',
    total: 3,
    isTotalComplete: true,
    recovered: 0,
    isAllMade: false,
    pending: 0,
    succeeded: 0,
    exhausted: 0,
    cancelled: 0,
    startedBy: 'system',
    createdAt: expect.any(Date),
    finishedAt: null,
  });
  await insert({ status: 'EXHAUSTED', statusCode: 503, error: 'status', body: 'later' });
  await startWorker();
  const ended = await tenant.waitForRecovery(started);
  expect(ended).toEqual({
    ...started,
    status: 'completed',
    recovered: 3,
    isAllMade: true,
    succeeded: 3,
    finishedAt: expect.any(Date),
  });
  await receiver.waitForCount(3);
  await waitFor('their record', async () => (await countByStatus())['SUCCEEDED'] === 4);
  expect(bodies()).toEqual(['away', 'not found', 'slow']);
  expect(receiver.received('/other')).toEqual([]);
  expect(await totalOf(filter)).toBe(1);
  expect(await host.get(WebhookRecoveriesService).list(tenant.id, endpoint.id, SYSTEM)).toEqual([ended]);
});

it('reaches what is cancelled, but not moved to the history yet', async () => {
  receiver.https.respond = (response) => response.writeHead(500).end();
  await startWorker();
  await tenant.message('waits');
  await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length === 1);
  await stopWorkers();
  await tenant.deactivate(endpoint);
  await tenant.activate(endpoint);
  expect(await totalOf({ status: 'cancelled', statusCode: '500' })).toBe(1);
  receiver.https.respond = (response) => response.end();
  const started = await start({ status: 'cancelled' });
  await startWorker();
  await tenant.waitForRecovery(started);
  await tenant.waitForStatus(endpoint, 'succeeded');
  expect(bodies()).toEqual(['waits', 'waits']);
});

it('leaves out what is older than the bound of a running one', async () => {
  await insert({ status: 'EXHAUSTED', statusCode: 500, error: 'status', body: 'older' });
  const since = new Date();
  await insert({ status: 'EXHAUSTED', statusCode: 500, error: 'status', body: 'younger' });
  const started = await start({ status: 'exhausted' });
  // As when days of a suspended workspace were dropped.
  await service.query('UPDATE webhook_recoveries SET since = $2 WHERE id = $1', [started.id, since]);
  await startWorker();
  expect(await tenant.waitForRecovery(started)).toMatchObject({ status: 'completed', recovered: 1 });
  await tenant.waitForStatus(endpoint, 'succeeded');
  expect(bodies()).toEqual(['younger']);
});

it('gives a delivery a round of its own, though another one ended since it was read', async () => {
  const [id] = await insert({ status: 'EXHAUSTED', statusCode: 500, error: 'status' });
  const other = new Client({ connectionString: service.stores.databaseUrl });
  await other.connect();
  try {
    await other.query('BEGIN');
    await other.query('SELECT FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
      tenant.id,
      endpoint.id,
    ]);
    const redelivered = tenant.redeliver({ id: id! });
    await waitForLockWait(service, 'the redelivery');
    // Another redelivery, and its end.
    await other.query(
      `INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
         finished_at, attempted_at, duration_ms, status_code)
       SELECT tenant_id, id, 2, endpoint_id, event_id, event_type, 'SUCCEEDED', 1, now(), now(), 1, 200
       FROM webhook_deliveries WHERE id = $1`,
      [id],
    );
    await other.query('COMMIT');
    await redelivered;
  } finally {
    await other.end();
  }
  expect(await service.query('SELECT round FROM pending_deliveries WHERE id = $1', [id])).toEqual([
    { round: 3 },
  ]);
});

it('gives a delivery a round of its own, though the pending one ends at that moment', async () => {
  const [id] = await insert({ status: 'EXHAUSTED', statusCode: 500, error: 'status' });
  await tenant.redeliver({ id: id! });
  const recorder = new Client({ connectionString: service.stores.databaseUrl });
  await recorder.connect();
  try {
    await recorder.query('BEGIN');
    await recorder.query(
      `WITH ended AS (DELETE FROM pending_deliveries WHERE id = $1 RETURNING *)
       INSERT INTO webhook_deliveries (tenant_id, id, round, endpoint_id, event_id, event_type, status, attempt_count,
         finished_at, attempted_at, duration_ms, status_code)
       SELECT tenant_id, id, round, endpoint_id, event_id, event_type, 'SUCCEEDED', 1, now(), now(), 1, 200 FROM ended`,
      [id],
    );
    const redelivered = tenant.redeliver({ id: id! });
    await waitForLockWait(service, 'the redelivery');
    await recorder.query('COMMIT');
    await redelivered;
  } finally {
    await recorder.end();
  }
  expect(await service.query('SELECT round FROM pending_deliveries WHERE id = $1', [id])).toEqual([
    { round: 3 },
  ]);
});

it('leaves alone what is under way', async () => {
  receiver.https.respond = (response) => response.writeHead(500).end();
  await startWorker();
  await tenant.message();
  await tenant.waitForDelivery(endpoint, 'waits', ({ attempts }) => attempts.length === 1);
  expect(await totalOf({ since: new Date(0), includeSucceeded: true })).toBe(0);
  await expectRefusal(start({ status: 'pending' as 'exhausted' }), 'INVALID_BODY');
});

it('goes on with another worker where a stopped one has left it, and delivers nothing twice', async () => {
  // There are so many, and they take so long, that the redelivery waits for the first ones. It takes a
  // thousand at a time, while fewer than two thousand are pending.
  receiver.https.respond = (response) => setTimeout(() => response.end(), 20);
  const all = 4_000;
  await insert({ status: 'EXHAUSTED', statusCode: 500, error: 'status', count: all });
  const started = await start({ statusCode: '500' });
  expect(started).toMatchObject({ total: all, recovered: 0 });
  await expectRefusal(start({ statusCode: '500' }), 'INVALID_BODY');
  await expectRefusal(tenant.recover(endpoint, new Date(0)), 'INVALID_BODY');
  const lock = new Client({ connectionString: service.stores.databaseUrl });
  await lock.connect();
  try {
    await lock.query('BEGIN');
    await startWorker();
    await waitFor('a part of it', async () => (await progressOf(started)).recovered > 0);
    await lock.query('SELECT FROM webhook_recoveries WHERE tenant_id = $1 FOR UPDATE', [tenant.id]);
    await stopWorkers();
  } finally {
    await lock.end();
  }
  const left = await progressOf(started);
  expect(left.status).toBe('running');
  expect(left.recovered).toBeLessThan(all);

  await startWorker();
  expect(await tenant.waitForRecovery(started)).toMatchObject({ status: 'completed', recovered: all });
  const { PENDING = 0, SUCCEEDED = 0, ...others } = await countByStatus();
  expect({ again: PENDING + SUCCEEDED, others }).toEqual({ again: all, others: {} });
  const rounds = await service.query(
    `SELECT DISTINCT round FROM pending_deliveries WHERE tenant_id = $1
     UNION SELECT round FROM webhook_deliveries WHERE tenant_id = $1 ORDER BY round`,
    [tenant.id],
  );
  expect(rounds).toEqual([{ round: 1 }, { round: 2 }]);
}, 180_000);

it('can be cancelled, and gives way to live deliveries', async () => {
  receiver.https.respond = (response) => setTimeout(() => response.end(), 20);
  await insert({ status: 'EXHAUSTED', statusCode: 500, error: 'status', count: 2 * THOUSANDS });
  const started = await start({ status: 'exhausted' });
  await startWorker();
  await waitFor('a part of it', async () => (await progressOf(started)).recovered > 0);
  const { id } = await tenant.message('live');
  await waitFor('the live one', async () =>
    (await tenant.list({ messageId: id })).some(({ status }) => status === 'succeeded'),
  );
  const cancelled = await host.get(WebhookRecoveriesService).cancel(tenant.id, started.id!, SYSTEM);
  expect(cancelled).toMatchObject({ status: 'cancelled', kind: 'matching' });
  expect(cancelled.recovered).toBeLessThan(2 * THOUSANDS);
  await letTimePass(1_500);
  const { status, recovered, finishedAt } = cancelled;
  expect(await progressOf(started)).toMatchObject({ status, recovered, finishedAt });
});

it('refuses to deliver everything again', async () => {
  await insert({ status: 'SUCCEEDED', statusCode: 200 });
  for (const filter of [{}, { includeSucceeded: true }, { includeSucceeded: true, status: undefined }])
    for (const dryRun of [true, false]) await expectRefusal(start(filter, dryRun), 'INVALID_BODY');
});

it('does not reach another workspace, and refuses what it does not know', async () => {
  const stranger = await WebhookWorkspace.create(host);
  await insert({ status: 'EXHAUSTED', statusCode: 500, error: 'status' });
  const filter = { endpointId: endpoint.id, status: 'exhausted' as const };
  const recoveries = host.get(WebhookRecoveriesService);
  const dryRun = { dryRun: true };
  await expectRefusal(recoveries.redeliverMatching(stranger.id, filter, dryRun, SYSTEM), 'NOT_FOUND');
  await expectRefusal(recoveries.redeliverMatching(stranger.id, filter, {}, SYSTEM), 'NOT_FOUND');
  const started = await start({ status: 'exhausted' });
  await expectRefusal(recoveries.get(stranger.id, started.id!, SYSTEM), 'NOT_FOUND');
  await expectRefusal(recoveries.cancel(stranger.id, started.id!, SYSTEM), 'NOT_FOUND');
  await expectRefusal(start({ status: 'exhausted' }, true, { id: UNKNOWN }), 'NOT_FOUND');
  for (const refused of [{ limit: 5 }, { cursor: UNKNOWN }, { statusCode: '9xx' }, { colour: 'red' }])
    await expectRefusal(start(refused, true), 'INVALID_BODY');
  await recoveries.cancel(tenant.id, started.id!, SYSTEM);
  await tenant.deactivate(endpoint);
  await expectRefusal(start({ status: 'exhausted' }), 'INVALID_BODY');
  expect(await host.get(WebhookDeliveriesService).list(stranger.id, {}, SYSTEM)).toMatchObject({ data: [] });
});
