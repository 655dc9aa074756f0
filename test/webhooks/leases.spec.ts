import { SYSTEM } from '../../src/access/principal';
import { Database } from '../../src/database/database';
import { AttemptRecorder } from '../../src/webhooks/deliveries/attempt-recorder';
import { AttemptRecord } from '../../src/webhooks/deliveries/delivery';
import { PendingDeliveriesRepository } from '../../src/webhooks/deliveries/pending-deliveries.repository';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { Claimed, claimPending, recordOf } from '../support/claimed-deliveries';
import { MessagingHost } from '../support/messaging-host';
import {
  attemptsOf,
  deliveriesOf,
  endLeases,
  findDue,
  findScheduled,
  insertPendingDeliveries,
} from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';

/** Number of rows that keeps two statements busy long enough to overlap. */
const MANY = 1_000;
/** Tests of claims that the test alone makes: no worker runs. */
describe('leases', () => {
  let host: MessagingHost;
  let database: Database;
  let store: PendingDeliveriesRepository;
  let recorder: AttemptRecorder;
  let subscription: Subscription;

  beforeAll(async () => {
    host = await MessagingHost.create();
    database = host.get(Database);
    store = host.get(PendingDeliveriesRepository);
    recorder = host.get(AttemptRecorder);
  });
  beforeEach(async () => {
    subscription = await subscribe(host, 'https://127.0.0.1:9999/');
  });

  const stored = () => deliveriesOf(host, subscription.endpoint);
  const insertPending = (count = 1) => insertPendingDeliveries(host, subscription, count);
  const hasDue = async () =>
    [...(await findDue(host)), ...(await findScheduled(host, new Date(0)))].includes(
      subscription.endpoint.id,
    );

  const claim = (count = 10, activation = 1) => claimPending(host, subscription, count, activation);
  const outcomeOf = (claimed: Claimed, status: AttemptRecord['status']) =>
    recordOf(subscription, claimed, status);

  const record = (...records: AttemptRecord[]) => Promise.all(records.map((one) => recorder.record(one)));

  it('keep a delivery from other claims until they end', async () => {
    await insertPending();
    const [claimed] = await claim();
    expect(claimed).toMatchObject({ endpointId: subscription.endpoint.id, round: 1, attemptCount: 0 });
    expect(claimed!.wasLeased).toBe(false);
    expect(await claim()).toEqual([]);
    expect(await hasDue()).toBe(false);

    await endLeases(host, subscription.endpoint);

    expect(await hasDue()).toBe(true);
    const [again] = await claim();
    expect(again).toMatchObject({ id: claimed!.id, wasLeased: true });
    expect(again!.leaseId).not.toBe(claimed!.leaseId);
  });

  it('outlast an attempt', async () => {
    await insertPending();
    await claim();
    const [{ outlasts }] = (await host.query(
      `SELECT next_attempt_at > now() + interval '12 seconds' AS outlasts FROM pending_deliveries WHERE endpoint_id = $1`,
      [subscription.endpoint.id],
    )) as [{ outlasts: boolean }];
    expect(outlasts).toBe(true);
  });

  it('are given once to concurrent claims', async () => {
    for (let n = 0; n < 10; n++) await insertPending();
    const claims = await Promise.all([claim(4), claim(4), claim(4)]);
    const ids = claims.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    // A claim skips rows that another one is locking.
    ids.push(...(await claim()).map(({ id }) => id));
    expect(new Set(ids).size).toBe(10);
  });

  it('are given to the longest due first', async () => {
    for (let n = 0; n < 3; n++) await insertPending();
    const [first, second, third] = await stored();
    // The times differ: ids of one millisecond have no order.
    for (const [n, { id }] of [second!, first!, third!].entries()) {
      await host.query(
        `UPDATE pending_deliveries SET next_attempt_at = now() - $2 * interval '1 minute' WHERE id = $1`,
        [id, n + 1],
      );
    }
    expect((await claim(1)).map(({ id }) => id)).toEqual([third!.id]);
    expect((await claim(1)).map(({ id }) => id)).toEqual([first!.id]);
    expect((await claim(1)).map(({ id }) => id)).toEqual([second!.id]);
  });

  it('are not given out before their time', async () => {
    await insertPending();
    await host.query(
      `UPDATE pending_deliveries SET next_attempt_at = now() + interval '1 minute' WHERE endpoint_id = $1`,
      [subscription.endpoint.id],
    );
    expect(await claim()).toEqual([]);
    expect(await hasDue()).toBe(false);
  });

  it('let only their holder record: a late outcome is dropped', async () => {
    await insertPending();
    const [late] = await claim();
    await endLeases(host, subscription.endpoint);
    const [current] = await claim();

    await record(outcomeOf(late!, 'EXHAUSTED'));
    expect(await stored()).toMatchObject([
      { status: 'PENDING', attempt_count: 0, lease_id: current!.leaseId },
    ]);
    expect(await attemptsOf(host, subscription.endpoint)).toEqual([]);

    await record(outcomeOf(current!, 'SUCCEEDED'));
    expect(await stored()).toMatchObject([{ status: 'SUCCEEDED', attempt_count: 1, lease_id: null }]);
    expect(await attemptsOf(host, subscription.endpoint)).toMatchObject([{ status_code: 200 }]);
  });

  it('let their holder record even when a late outcome is in the same batch', async () => {
    await insertPending();
    const [late] = await claim();
    await endLeases(host, subscription.endpoint);
    const [current] = await claim();

    await record(outcomeOf(late!, 'EXHAUSTED'), outcomeOf(current!, 'SUCCEEDED'));

    expect(await stored()).toMatchObject([{ status: 'SUCCEEDED', attempt_count: 1 }]);
    expect(await attemptsOf(host, subscription.endpoint)).toMatchObject([{ status_code: 200 }]);
  });

  it.each(['PENDING', 'SUCCEEDED', 'EXHAUSTED'] as const)(
    'let an attempt be recorded once, when it leaves the delivery %s',
    async (status) => {
      await insertPending();
      const [claimed] = await claim();
      const outcome = outcomeOf(claimed!, status);

      await record(outcome);
      await record(outcome);
      await record(outcomeOf(claimed!, 'SUCCEEDED'));

      expect(await stored()).toMatchObject([{ status, attempt_count: 1, lease_id: null }]);
      expect(await attemptsOf(host, subscription.endpoint)).toMatchObject([{ round: 1, attempt: 1 }]);
    },
  );

  it('end without an attempt when it was too late to begin it', async () => {
    await insertPending();
    const [claimed] = await claim();
    await record({ ...outcomeOf(claimed!, 'PENDING'), outcome: null, retryDelayMs: 0 });

    expect(await stored()).toMatchObject([{ status: 'PENDING', attempt_count: 0, lease_id: null }]);
    expect(await attemptsOf(host, subscription.endpoint)).toEqual([]);
    expect(await hasDue()).toBe(true);
  });

  it('hold through the deletion of their endpoint: the outcome is recorded', async () => {
    await insertPending();
    const [claimed] = await claim();
    const { workspace, endpoint } = subscription;
    await host.get(WebhookEndpointsService).delete(workspace.id, endpoint.id, SYSTEM);
    expect(await stored()).toMatchObject([{ status: 'CANCELLED', attempt_count: 0 }]);

    await record(outcomeOf(claimed!, 'SUCCEEDED'));

    expect(await stored()).toMatchObject([{ status: 'SUCCEEDED', attempt_count: 1 }]);
    expect(await attemptsOf(host, endpoint)).toHaveLength(1);
  });

  it('end without a deadlock when a batch of outcomes meets a deactivation', async () => {
    const endpoints = host.get(WebhookEndpointsService);
    const { workspace, endpoint } = subscription;
    for (let round = 1; round <= 5; round++) {
      await endpoints.activate(workspace.id, endpoint.id, SYSTEM);
      await insertPending(MANY);
      const claimed = await claim(MANY, round);
      expect(claimed).toHaveLength(MANY);
      // The order is newest first, unlike that of the table.
      const outcomes = claimed.map((delivery) => outcomeOf(delivery, 'SUCCEEDED')).reverse();
      const [{ leaseId }] = claimed as [Claimed];
      const others = outcomes.splice(MANY / 2).map(({ delivery }) => delivery);
      await Promise.all([
        record(...outcomes),
        database.queueTransaction((tx) =>
          Promise.resolve(store.postponePipelined(tx, others, leaseId, 60_000)),
        ),
        endpoints.deactivate(workspace.id, endpoint.id, SYSTEM),
      ]);
    }
    expect((await stored()).filter(({ status }) => status === 'PENDING')).toEqual([]);
  });

  it.each(['deactivate', 'delete'] as const)('are not given out after %s', async (stop) => {
    await insertPending();
    const { workspace, endpoint } = subscription;
    await host.get(WebhookEndpointsService)[stop](workspace.id, endpoint.id, SYSTEM);
    await insertPending();

    expect(await hasDue()).toBe(false);
    expect((await stored()).map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED']);
  });

  it('are not given out for what a former activation was owed', async () => {
    await insertPending();
    await subscription.deactivate(subscription.endpoint);
    await subscription.activate(subscription.endpoint);
    await insertPending();

    expect((await stored()).map(({ status }) => status)).toEqual(['CANCELLED', 'PENDING']);
    expect(await claim(10, 2)).toHaveLength(1);
    expect(await hasDue()).toBe(false);
  });

  describe('that have ended', () => {
    const due = () => findDue(host);
    const scheduled = (since: Date) => findScheduled(host, since);

    it('are found by the poll, and none before', async () => {
      const { id } = subscription.endpoint;
      const start = new Date(Date.now() - 60_000);
      await insertPending();
      expect(await due()).toContain(id);
      // First attempts are not in the schedule.
      expect(await scheduled(start)).not.toContain(id);
      await claim();
      expect(await due()).not.toContain(id);
      expect(await scheduled(start)).not.toContain(id);
      await endLeases(host, subscription.endpoint);
      expect(await due()).toContain(id);
      expect(await scheduled(start)).toContain(id);
      expect(await scheduled(new Date())).not.toContain(id);
    });

    it('of many endpoints are found in one step', async () => {
      const ids: string[] = [];
      for (let n = 0; n < 3; n++) {
        subscription = await subscribe(host, 'https://127.0.0.1:9999/');
        await insertPending();
        ids.push(subscription.endpoint.id);
      }
      expect(await due()).toEqual(expect.arrayContaining(ids));
    });
  });
});
