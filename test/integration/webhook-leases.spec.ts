import { SYSTEM } from '../../src/common/principal';
import { ClaimedDelivery } from '../../src/webhooks/deliveries/claimed-delivery';
import {
  PendingDeliveriesRepository,
  RecordedAttempt,
} from '../../src/webhooks/deliveries/pending-deliveries.repository';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { Dashboard } from '../support/dashboard';
import {
  attemptsOf,
  deliveriesOf,
  insertPendingDeliveries,
  subscribe,
  Subscription,
} from '../support/webhook-workspace';

/** Enough for two statements to overlap. */
const MANY = 1_000;

/** Claims made by the test alone: no worker runs. */
describe('leases', () => {
  let dashboard: Dashboard;
  let store: PendingDeliveriesRepository;
  let subscription: Subscription;

  beforeAll(async () => {
    dashboard = await Dashboard.create();
    store = dashboard.get(PendingDeliveriesRepository);
  });
  afterAll(() => dashboard.close());
  beforeEach(async () => {
    subscription = await subscribe(dashboard, 'https://127.0.0.1:9999/');
  });

  const claim = (count = 10) => store.claim(subscription.endpoint.id, count);
  const stored = () => deliveriesOf(dashboard, subscription.endpoint);
  const insertPending = (count = 1) => insertPendingDeliveries(dashboard, subscription, count);
  const endLeases = () =>
    dashboard.query(
      `UPDATE webhook_deliveries SET lease_until = now() - interval '1 second' WHERE endpoint_id = $1`,
      [subscription.endpoint.id],
    );

  it('keep a delivery from other claims until they end', async () => {
    await insertPending();
    const [claimed] = await claim();
    expect(claimed).toMatchObject({ endpointId: subscription.endpoint.id, attemptCount: 0, maxAttempts: 6 });
    expect(await claim()).toEqual([]);
    expect(await store.hasDue(subscription.endpoint.id)).toBe(false);

    await endLeases();

    expect(await store.hasDue(subscription.endpoint.id)).toBe(true);
    const [again] = await claim();
    expect(again!.id).toBe(claimed!.id);
    expect(again!.leaseId).not.toBe(claimed!.leaseId);
  });

  it('outlast an attempt', async () => {
    await insertPending();
    await claim();
    const [{ outlasts }] = (await dashboard.query(
      `SELECT lease_until > now() + interval '12 seconds' AS outlasts FROM webhook_deliveries WHERE endpoint_id = $1`,
      [subscription.endpoint.id],
    )) as [{ outlasts: boolean }];
    expect(outlasts).toBe(true);
  });

  it('are given once to concurrent claims', async () => {
    for (let n = 0; n < 10; n++) await insertPending();
    const claims = await Promise.all([claim(4), claim(4), claim(4)]);
    const ids = claims.flat().map(({ id }) => id);
    expect(ids).toHaveLength(10);
    expect(new Set(ids).size).toBe(10);
  });

  it('are given to the longest due first', async () => {
    for (let n = 0; n < 3; n++) await insertPending();
    const [first, second, third] = await stored();
    await dashboard.query(
      `UPDATE webhook_deliveries SET next_attempt_at = next_attempt_at - interval '1 minute' WHERE id = $1`,
      [third!.id],
    );
    expect((await claim(1)).map(({ id }) => id)).toEqual([third!.id]);
    expect((await claim(1)).map(({ id }) => id)).toEqual([first!.id]);
    expect((await claim(1)).map(({ id }) => id)).toEqual([second!.id]);
  });

  it('are not given out before their time', async () => {
    await insertPending();
    await dashboard.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() + interval '1 minute' WHERE endpoint_id = $1`,
      [subscription.endpoint.id],
    );
    expect(await claim()).toEqual([]);
    expect(await store.hasDue(subscription.endpoint.id)).toBe(false);
  });

  it('let only their holder decide: a late outcome is kept, but decides nothing', async () => {
    await insertPending();
    const [late] = await claim();
    await endLeases();
    const [current] = await claim();

    await store.record([outcomeOf(late!, 'EXHAUSTED')]);
    expect(await stored()).toMatchObject([
      { status: 'PENDING', attempt_count: 0, lease_id: current!.leaseId },
    ]);
    expect(await attemptsOf(dashboard, subscription.endpoint)).toHaveLength(1);

    await store.record([outcomeOf(current!, 'SUCCEEDED')]);
    expect(await stored()).toMatchObject([{ status: 'SUCCEEDED', attempt_count: 1, lease_id: null }]);
    expect(await attemptsOf(dashboard, subscription.endpoint)).toHaveLength(2);
  });

  it('decide even when the late outcome is written in the same batch', async () => {
    await insertPending();
    const [late] = await claim();
    await endLeases();
    const [current] = await claim();

    await store.record([outcomeOf(late!, 'EXHAUSTED'), outcomeOf(current!, 'SUCCEEDED')]);

    expect(await stored()).toMatchObject([{ status: 'SUCCEEDED', attempt_count: 1 }]);
    expect(await attemptsOf(dashboard, subscription.endpoint)).toHaveLength(2);
  });

  it('end when their endpoint is deleted: the outcome is kept, and the delivery stays cancelled', async () => {
    await insertPending();
    const [claimed] = await claim();
    const { workspace, endpoint } = subscription;
    await dashboard.get(WebhookEndpointsService).delete(workspace.id, endpoint.id, SYSTEM);

    await store.record([outcomeOf(claimed!, 'SUCCEEDED')]);

    expect(await stored()).toMatchObject([{ status: 'CANCELLED', attempt_count: 0 }]);
    expect(await attemptsOf(dashboard, endpoint)).toHaveLength(1);
  });

  it('end without a deadlock when a batch of outcomes meets a deactivation', async () => {
    const endpoints = dashboard.get(WebhookEndpointsService);
    const { workspace, endpoint } = subscription;
    for (let round = 0; round < 10; round++) {
      await endpoints.activate(workspace.id, endpoint.id, SYSTEM);
      await insertPending(MANY);
      const claimed = await claim(MANY);
      // Newest first: not the order in which the table has them.
      const outcomes = claimed.map((delivery) => outcomeOf(delivery, 'SUCCEEDED')).reverse();
      const others = outcomes.splice(MANY / 2).map(({ delivery }) => delivery);
      await Promise.all([
        store.record(outcomes),
        store.postpone(others, 60_000),
        endpoints.deactivate(workspace.id, endpoint.id, SYSTEM),
      ]);
    }
    const left = (await stored()).filter(({ status }) => status === 'PENDING');
    expect(left).toEqual([]);
  });

  it.each(['deactivate', 'delete'] as const)('are not given out after %s', async (stop) => {
    await insertPending();
    const { workspace, endpoint } = subscription;
    await dashboard.get(WebhookEndpointsService)[stop](workspace.id, endpoint.id, SYSTEM);
    await insertPending();

    expect(await claim()).toEqual([]);
    expect(await store.hasDue(endpoint.id)).toBe(false);
    expect(await store.sweep(1000)).not.toContain(endpoint.id);
    expect((await stored()).map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED']);
  });

  it('are found by the sweep once they have ended, and not before', async () => {
    await insertPending();
    await dashboard.query(
      `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '5 seconds' WHERE endpoint_id = $1`,
      [subscription.endpoint.id],
    );
    expect(await store.sweep(1000)).toContain(subscription.endpoint.id);
    await claim();
    expect(await store.sweep(1000)).not.toContain(subscription.endpoint.id);
    await endLeases();
    expect(await store.sweep(1000)).toContain(subscription.endpoint.id);
  });

  it('of many endpoints are swept in bounded batches', async () => {
    for (let n = 0; n < 3; n++) {
      const { endpoint } = (subscription = await subscribe(dashboard, 'https://127.0.0.1:9999/'));
      await insertPending();
      await dashboard.query(
        `UPDATE webhook_deliveries SET next_attempt_at = now() - interval '5 seconds' WHERE endpoint_id = $1`,
        [endpoint.id],
      );
    }
    expect(await store.sweep(2)).toHaveLength(2);
  });
});

function outcomeOf(delivery: ClaimedDelivery, status: 'SUCCEEDED' | 'EXHAUSTED'): RecordedAttempt {
  const phases = { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
  const made = { at: new Date(), durationMs: 5, response: null, phases };
  return {
    delivery,
    status,
    retryDelayMs: null,
    outcome:
      status === 'SUCCEEDED'
        ? { kind: 'succeeded', ...made, statusCode: 200, error: null, errorMessage: null }
        : { kind: 'failed', ...made, statusCode: 500, error: 'status', errorMessage: 'Answered 500' },
  };
}
