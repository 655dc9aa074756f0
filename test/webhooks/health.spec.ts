import { ServerResponse } from 'node:http';
import { maskUrls } from '../../src/audit/masked-urls';
import { idFloor } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { CreatedWebhookEndpoint } from '../../src/webhooks/endpoints/webhook-endpoint.dto';
import { Responder } from '../support/https-receiver';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

const NOTHING = { pending: 0, succeeded: 0, exhausted: 0, cancelled: 0, late: 0 };
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const failing: Responder = (response) => response.writeHead(500).end();
const gone: Responder = (response) => response.writeHead(410).end();
const working: Responder = (response) => response.end('ok');

let service: TestService;
let tenant: WebhookWorkspace;
let receiver: Receiver;
let endpoint: CreatedWebhookEndpoint;

beforeAll(async () => {
  service = await TestService.create({ role: 'all' });
});

beforeEach(async () => {
  receiver = await Receiver.start();
  tenant = await WebhookWorkspace.create(service);
  endpoint = await tenant.addEndpoint(receiver.url());
});
afterEach(() => receiver.stop());

/** Makes an endpoint look as if it had been failing for so many days. */
async function failingFor(days: number): Promise<void> {
  await waitFor('a failing endpoint', async () => (await tenant.health(endpoint)).failingSince);
  await service.query('UPDATE webhook_endpoints SET failing_since = $2 WHERE id = $1', [
    endpoint.id,
    new Date(Date.now() - days * DAY_MS),
  ]);
}

/** Makes a first attempt fail, and waits until it is stored. */
async function failOnce(): Promise<Date> {
  receiver.https.respond = failing;
  await tenant.message();
  const failed = await tenant.waitForDelivery(
    endpoint,
    'has failed',
    ({ status, attempts }) => status === 'pending' && attempts.length > 0,
  );
  return failed.attempts[0]!.at;
}

async function succeedOnce(count = 1): Promise<void> {
  receiver.https.respond = working;
  await tenant.message();
  await tenant.waitForStatus(endpoint, 'succeeded', count);
}

const read = () => tenant.endpoints.get(tenant.id, endpoint.id, SYSTEM);
const deactivations = async () =>
  (await tenant.auditOf(endpoint)).filter(({ action }) => action === 'webhook_endpoint.deactivated');

describe('health', () => {
  it('knows nothing of an endpoint that got nothing yet', async () => {
    expect(await tenant.health(endpoint)).toEqual({
      active: true,
      failingSince: null,
      lastSuccessAt: null,
      last24Hours: NOTHING,
      cancelling: null,
    });
  });

  it('is failing since the first failure, until a success', async () => {
    const firstFailure = await failOnce();
    const failed = await waitFor('a failing endpoint', async () => {
      const health = await tenant.health(endpoint);
      return health.failingSince && health;
    });
    expect(failed).toEqual({
      active: true,
      failingSince: firstFailure,
      lastSuccessAt: null,
      last24Hours: { ...NOTHING, pending: 1 },
      cancelling: null,
    });

    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'exhausted');
    expect(await tenant.health(endpoint)).toEqual({ ...failed, last24Hours: { ...NOTHING, exhausted: 1 } });
    expect(await tenant.endpoints.get(tenant.id, endpoint.id, SYSTEM)).toMatchObject({
      failingSince: firstFailure,
    });

    await succeedOnce();
    const [succeeded] = await tenant.list({ endpointId: endpoint.id, status: 'succeeded' });
    const well = await waitFor('a well endpoint', async () => {
      const health = await tenant.health(endpoint);
      return health.failingSince === null && health;
    });
    expect(well).toEqual({
      active: true,
      failingSince: null,
      lastSuccessAt: succeeded!.attempts[0]!.at,
      last24Hours: { ...NOTHING, exhausted: 1, succeeded: 1 },
      cancelling: null,
    });
  });

  it('counts the last 24 hours alone', async () => {
    await succeedOnce();
    const asOf = async (hoursAgo: number) => {
      const id = idFloor(new Date(Date.now() - hoursAgo * HOUR_MS));
      await service.query('UPDATE webhook_deliveries SET id = $2 WHERE endpoint_id = $1', [endpoint.id, id]);
      return (await tenant.health(endpoint)).last24Hours;
    };
    expect(await asOf(23.9)).toEqual({ ...NOTHING, succeeded: 1 });
    expect(await asOf(24.1)).toEqual(NOTHING);
  });

  it('counts what has failed and arrived later, by a retry or a redelivery', async () => {
    await succeedOnce();
    await failOnce();
    receiver.https.respond = working;
    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'succeeded', 2);
    const counts = { ...NOTHING, succeeded: 2, late: 1 };
    expect((await tenant.health(endpoint)).last24Hours).toEqual(counts);
    const { id } = (await tenant.list({ endpointId: endpoint.id })).find(
      ({ attempts }) => attempts.length === 1,
    )!;
    await tenant.redeliver({ id });
    await waitFor('the second round', async () => (await tenant.health(endpoint)).last24Hours.late === 2);
  });

  it('does not change with the Test button', async () => {
    receiver.https.respond = failing;
    const well = await tenant.health(endpoint);
    expect(await tenant.test(endpoint)).toMatchObject({ status: 500 });
    expect(await tenant.health(endpoint)).toEqual(well);

    receiver.https.respond = gone;
    expect(await tenant.test(endpoint)).toMatchObject({ status: 410 });
    expect(await tenant.health(endpoint)).toEqual(well);

    await failOnce();
    await failingFor(6);
    const ill = await tenant.health(endpoint);
    receiver.https.respond = working;
    expect(await tenant.test(endpoint)).toMatchObject({ status: 200 });
    expect(await tenant.health(endpoint)).toEqual(ill);
  });

  it('does not change with a test that is delivered again', async () => {
    receiver.https.respond = failing;
    await tenant.test(endpoint);
    const [test] = await tenant.list();
    await tenant.redeliver(test!);
    await tenant.waitForDelivery(
      endpoint,
      'has failed again',
      ({ status, attempts }) => status === 'exhausted' && attempts.length === 2,
    );
    expect(await tenant.health(endpoint)).toMatchObject({ active: true, failingSince: null });
  });
});

describe('an endpoint that failed for five days', () => {
  it('is given up with the next delivery that is exhausted, and what is pending is cancelled', async () => {
    await failOnce();
    await tenant.message();
    await failingFor(5.01);
    await waitFor('two failures', async () => {
      const deliveries = await tenant.list({ endpointId: endpoint.id });
      return deliveries.length === 2 && deliveries.every(({ attempts }) => attempts.length > 0);
    });
    await service.query(
      `UPDATE pending_deliveries SET next_attempt_at = now() + interval '1 hour' WHERE endpoint_id = $1`,
      [endpoint.id],
    );
    const [waiting, next] = await tenant.list({ endpointId: endpoint.id });
    await service.query(
      `UPDATE pending_deliveries SET attempt_count = 5, next_attempt_at = now() - interval '2 seconds' WHERE id = $1`,
      [next!.id],
    );

    await waitFor('its end', async () => !(await tenant.health(endpoint)).active);
    expect(await tenant.list({ endpointId: endpoint.id })).toMatchObject([
      { id: waiting!.id, status: 'cancelled' },
      { id: next!.id, status: 'exhausted' },
    ]);
    expect(await deactivations()).toMatchObject([
      { actorType: 'system', actorId: null, metadata: { url: maskUrls(endpoint.url), reason: 'failing' } },
    ]);

    expect(await read()).toMatchObject({ deactivation: { reason: 'failing', at: expect.any(Date) } });

    await tenant.activate(endpoint);
    expect(await tenant.health(endpoint)).toMatchObject({ active: true, failingSince: null });
    expect(await read()).toMatchObject({ deactivation: null });
    await tenant.deactivate(endpoint);
    expect(await read()).toMatchObject({ active: false, deactivation: null });
  });

  it('is not given up a little earlier', async () => {
    await failOnce();
    await failingFor(4.99);
    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'exhausted');
    await expectStaysActive();
  });

  it('is not given up when it succeeded in between', async () => {
    await failOnce();
    await failingFor(6);
    receiver.https.respond = working;
    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'succeeded');
    receiver.https.respond = failing;
    await tenant.exhaust(endpoint);
    await expectStaysActive();
  });

  it('is not given up when it succeeds while its last attempt is under way', async () => {
    await failOnce();
    await failingFor(6);
    let held: ServerResponse | undefined;
    receiver.https.respond = (response) => {
      held = response;
    };
    await tenant.makeLastAttemptDue(endpoint);
    await waitFor('the last attempt', () => held);
    receiver.https.respond = working;
    await tenant.message();
    await tenant.waitForStatus(endpoint, 'succeeded');
    await waitFor('a well endpoint', async () => (await tenant.health(endpoint)).failingSince === null);
    failing(held!, receiver.https.lastRequest);
    await tenant.waitForStatus(endpoint, 'exhausted');
    await expectStaysActive();
  });
});

describe('an endpoint that answers 410 Gone', () => {
  it('is given up when a delivery is exhausted on it', async () => {
    receiver.https.respond = gone;
    await tenant.exhaust(endpoint);
    await waitFor('its end', async () => !(await tenant.health(endpoint)).active);
    expect(await deactivations()).toMatchObject([
      { actorType: 'system', actorId: null, metadata: { url: maskUrls(endpoint.url), reason: 'gone' } },
    ]);
    expect(await read()).toMatchObject({ deactivation: { reason: 'gone', at: expect.any(Date) } });
  });

  it('is not given up when the next attempt succeeds', async () => {
    receiver.https.respond = gone;
    await tenant.message();
    await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length > 0);
    receiver.https.respond = working;
    await tenant.waitForStatus(endpoint, 'succeeded');
    await expectStaysActive();
  });

  it('is not given up when the last attempt finds something else', async () => {
    receiver.https.respond = gone;
    await tenant.message();
    await tenant.waitForDelivery(endpoint, 'has failed', ({ attempts }) => attempts.length > 0);
    receiver.https.respond = failing;
    await tenant.makeLastAttemptDue(endpoint);
    await tenant.waitForStatus(endpoint, 'exhausted');
    await expectStaysActive();
  });
});

/**
 * Expects that the endpoint stays active through one more delivery, which comes after the effects of the
 * earlier ones.
 */
async function expectStaysActive(): Promise<void> {
  receiver.https.respond = working;
  const { length } = await tenant.list({ endpointId: endpoint.id, status: 'succeeded' });
  await succeedOnce(length + 1);
  expect(await tenant.health(endpoint)).toMatchObject({ active: true });
  expect(await deactivations()).toEqual([]);
}
