import Redis from 'ioredis';
import { Database } from '../../src/database/database';
import { DatabaseClock } from '../../src/database/database-clock';
import { Transaction } from '../../src/database/transaction';
import { ClaimedEvent, EventQueueRepository } from '../../src/outbox/event-queue.repository';
import { OutboxConsumer } from '../../src/outbox/outbox.consumer';
import { OutboxRelay } from '../../src/outbox/outbox-relay';
import { newId } from '../../src/common/ids';
import { SYSTEM } from '../../src/access/principal';
import { WakeUps } from '../../src/queue/wake-ups';
import { DELIVERY_QUEUE } from '../../src/webhooks/deliveries/delivery';
import { SubscribersRepository } from '../../src/webhooks/endpoints/subscribers.repository';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { HeldAnswers } from '../support/held-answers';
import { MessagingHost } from '../support/messaging-host';
import { contradictions } from '../support/integrity';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import {
  attemptsOf,
  deliveriesOf,
  endLeases,
  insertPendingDeliveries,
  makeRetriesDue,
  waitForAttempts,
  waitForDeliveries,
} from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';
import { letTimePass, waitFor } from '../support/wait';

const CAP = 3;
const SLOW = 30_000;

/** Makes a consumer that passes every event to `react`. */
function consumerOf(react: (events: ClaimedEvent[]) => Promise<void>): OutboxConsumer {
  const consume = async (_: unknown, events: ClaimedEvent[]) => {
    await react(events);
    return {};
  };
  return { name: 'test', prepareConsumer: () => Promise.resolve(consume) };
}

/** Tests of two workers on one database and Redis, with the faults that can happen to them. */
describe('delivery engine', () => {
  let service: TestService;
  let host: MessagingHost;
  let receiver: Receiver;
  let redis: Redis;
  let held: HeldAnswers;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all', env: { WEBHOOK_ENDPOINT_CONCURRENCY: String(CAP) } });
    host = await MessagingHost.create({ beside: service });
    redis = new Redis(service.stores.redisUrl);
    receiver = await Receiver.start();
  });
  afterAll(() => redis.disconnect());
  beforeEach(() => {
    receiver.https.respond = (response) => response.end('ok');
    held = new HeldAnswers(receiver);
  });

  async function send({ workspace, conversation }: Subscription, count: number): Promise<void> {
    for (let n = 0; n < count; n++) await service.make.received(workspace, conversation, `Message ${n}`);
  }

  /** Lets an endpoint answer one delivery: before its first answer it has only one slot. */
  async function answerOnce(subscription: Subscription): Promise<void> {
    await send(subscription, 1);
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', 1);
  }

  async function expectAllPlacesFree(subscription: Subscription): Promise<void> {
    held.hold(subscription.path);
    await send(subscription, CAP);
    await held.waitForCount(subscription.path, CAP);
    held.release(subscription.path);
  }

  it('delivers what is pending when Redis is wiped', async () => {
    receiver.https.respond = (response) => response.writeHead(500).end();
    const subscription = await subscribe(service, receiver);
    await send(subscription, 5);
    await waitForAttempts(service, subscription.endpoint, 5);
    receiver.https.respond = (response) => response.end('ok');

    await redis.flushdb();

    const delivered = await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', 5, SLOW);
    expect(delivered.map((row) => row.attempt_count)).toEqual([2, 2, 2, 2, 2]);
  });

  it('delivers what is appended after Redis was wiped', async () => {
    const subscription = await subscribe(service, receiver);
    await redis.flushdb();
    await send(subscription, 3);
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', 3, SLOW);
  });

  it('loses nothing and repeats nothing when a consumer throws', async () => {
    const subscription = await subscribe(service, receiver);
    const { id: tenantId } = subscription.workspace;
    let throws = 1;
    const seen: string[] = [];
    const consumer = consumerOf((events) => {
      if (throws-- > 0) return Promise.reject(new Error('thrown once'));
      seen.push(...events.filter((event) => event.tenantId === tenantId).map(({ id }) => id));
      return Promise.resolve();
    });
    service.app.get(OutboxRelay).register(consumer);

    await send(subscription, 3);

    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', 3);
    const events = await service.query<{ id: string }>(
      `SELECT id FROM events WHERE tenant_id = $1 AND type = 'message.created'`,
      [tenantId],
    );
    expect(throws).toBeLessThan(1);
    expect(seen).toEqual(expect.arrayContaining(events.map(({ id }) => id)));
    expect(new Set(seen).size).toBe(seen.length);
    expect(receiver.received(subscription.path)).toHaveLength(3);
    await expectAllPlacesFree(subscription);
  });

  it('gives an endpoint one slot until it has answered', async () => {
    const subscription = await subscribe(service, receiver);
    held.hold(subscription.path);
    await send(subscription, CAP);
    await held.waitForCount(subscription.path, 1);
    await subscription.waitForRelay();
    expect(held.list(subscription.path)).toHaveLength(1);
    held.release(subscription.path);
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', CAP);
  });

  it('starts deliveries without a claim while slots are free, and claims the rest later', async () => {
    const subscription = await subscribe(service, receiver);
    await answerOnce(subscription);
    held.hold(subscription.path);
    const { endpoint, workspace } = subscription;
    const leasedEvents = async () => {
      const sql = 'SELECT FROM event_queue WHERE tenant_id = $1 AND lease_until > now()';
      return (await service.query(sql, [workspace.id])).length;
    };

    for (let n = 1; n <= CAP; n++) {
      await send(subscription, 1);
      await held.waitForCount(subscription.path, n);
    }
    const answered = await deliveriesOf(service, endpoint);
    expect([await leasedEvents(), answered.length]).toEqual([CAP, 1]);
    const first = { status: 'pending', nextAttemptAt: null, attempts: [] };
    expect((await subscription.list()).slice(0, CAP)).toMatchObject(Array(CAP).fill(first));

    await send(subscription, 2);
    const pending = await waitFor('two pending deliveries', async () => {
      const rows = (await deliveriesOf(service, endpoint)).filter(({ status }) => status === 'PENDING');
      return rows.length === 2 && rows;
    });
    const waiting = { round: 1, attempt_count: 0, lease_id: null };
    expect(pending).toMatchObject([waiting, waiting]);
    expect(await leasedEvents()).toBe(CAP);
    expect(await subscription.list()).toHaveLength(CAP + 3);
    held.release(subscription.path);
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', CAP + 3);
    expect(receiver.received(subscription.path)).toHaveLength(CAP + 3);
  });

  it('sends nothing again when an event comes again that is recorded', async () => {
    const subscription = await subscribe(service, receiver);
    await send(subscription, CAP);
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', CAP);

    // The rows are those of a worker that was killed before the last of an event's deliveries was recorded.
    await service.query(
      `INSERT INTO event_queue (tenant_id, event_id, lease_id, lease_until)
       SELECT tenant_id, event_id, event_id, now() - interval '1 second' FROM webhook_deliveries WHERE endpoint_id = $1`,
      [subscription.endpoint.id],
    );
    await send(subscription, 1);

    await subscription.waitForRelay();
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', CAP + 1);
    expect(receiver.received(subscription.path)).toHaveLength(CAP + 1);
    await expectAllPlacesFree(subscription);
  });

  it('lets two workers share the work without losing or repeating anything', async () => {
    const second = await TestService.create({
      role: 'worker',
      beside: service,
      env: { WEBHOOK_ENDPOINT_CONCURRENCY: String(CAP) },
    });
    try {
      const subscriptions = await Promise.all(Array.from({ length: 4 }, () => subscribe(service, receiver)));
      await Promise.all(subscriptions.map((subscription) => send(subscription, 30)));

      for (const { endpoint, path } of subscriptions) {
        const delivered = await waitForDeliveries(service, endpoint, 'SUCCEEDED', 30, SLOW);
        expect(delivered.map((row) => row.attempt_count)).toEqual(Array(30).fill(1));
        const ids = receiver.received(path).map(({ headers }) => headers['x-service-delivery']);
        expect(ids.sort()).toEqual(delivered.map(({ id }) => id).sort());
      }
    } finally {
      await second.close();
    }
  }, 60_000);

  it('has never more under way to an endpoint than its cap, however it is woken', async () => {
    const subscription = await subscribe(service, receiver);
    const { workspace, endpoint, path } = subscription;
    await answerOnce(subscription);
    held.hold(path);
    const wakeUps = service.app.get(WakeUps, { strict: false });
    await send(subscription, 20);
    for (let n = 0; n < 20; n++)
      wakeUps.wakeIn(DELIVERY_QUEUE, { tenantId: workspace.id, id: endpoint.id }, n * 100);

    await held.waitForCount(path, CAP);
    let most = 0;
    for (let answered = 0; answered < 20;) {
      await held.waitForCount(path, 1);
      const [{ leased }] = (await service.query<{ leased: number }>(
        `SELECT (SELECT count(*)::int FROM pending_deliveries WHERE endpoint_id = $1 AND lease_id IS NOT NULL)
              + (SELECT count(*)::int FROM event_queue WHERE tenant_id = $2 AND lease_id IS NOT NULL) AS leased`,
        [endpoint.id, workspace.id],
      )) as [{ leased: number }];
      most = Math.max(most, held.countWaiting(path), leased);
      if (held.answerNext(path)) answered++;
    }

    held.release(path);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 21, SLOW);
    expect(most).toBe(CAP);
    const attempts = await attemptsOf(service, endpoint);
    const ids = receiver.received(path).map(({ headers }) => headers['x-service-delivery']);
    // A pause of this machine makes attempts time out. Each request is a recorded attempt all the same.
    expect(ids.sort()).toEqual(attempts.map(({ delivery_id }) => delivery_id).sort());
    expect(new Set(ids).size).toBe(21);
  }, 60_000);

  it('serves others while one endpoint hangs, and gives the hanging one ten seconds', async () => {
    const hanging = await subscribe(service, receiver);
    const other = await subscribe(service, receiver);
    await answerOnce(hanging);
    held.hold(hanging.path);
    await send(hanging, CAP + 2);
    await held.waitForCount(hanging.path, CAP);

    await send(other, 10);
    await waitForDeliveries(service, other.endpoint, 'SUCCEEDED', 10);

    const finished = (await deliveriesOf(service, hanging.endpoint)).filter(
      ({ status }) => status !== 'PENDING',
    );
    expect(finished).toHaveLength(1);
    const [, ...attempts] = await waitForAttempts(service, hanging.endpoint, CAP + 1, SLOW);
    expect(attempts.slice(0, CAP)).toEqual(
      Array(CAP).fill(expect.objectContaining({ error: 'timeout', status_code: null, response: null })),
    );
    expect(attempts[0]!.duration_ms).toBeGreaterThanOrEqual(9_990);
    held.release(hanging.path);
    await makeRetriesDue(host, hanging.endpoint);
    await waitForDeliveries(service, hanging.endpoint, 'SUCCEEDED', CAP + 3, SLOW);
  }, 60_000);

  it('begins no attempt once its endpoint is deleted, even while the event is being relayed', async () => {
    const subscription = await subscribe(service, receiver);
    const { workspace, endpoint, path } = subscription;
    let deletedAt: string | null = null;
    const consumer = consumerOf(async (events) => {
      if (!events.some(({ tenantId, type }) => tenantId === workspace.id && type === 'message.created'))
        return;
      if (deletedAt !== null) return;
      await service.app.get(WebhookEndpointsService).delete(workspace.id, endpoint.id, SYSTEM);
      deletedAt = new Date().toISOString();
      // An attempt that begins after it has a later time.
      await letTimePass(5);
    });
    service.app.get(OutboxRelay).register(consumer);

    await subscription.message('First');

    await waitFor('the deletion', () => deletedAt);
    await waitFor('its outcome', async () => {
      const [delivery] = await deliveriesOf(service, endpoint);
      return delivery !== undefined && delivery.status !== 'PENDING';
    });
    // A later event has been delivered, so the deleted endpoint gets nothing any more.
    const another = await subscription.addEndpoint(receiver.url(`${path}-2`));
    await subscription.message('Second');
    await waitForDeliveries(service, another, 'SUCCEEDED');
    const begun = receiver.received(path).map(({ envelope }) => envelope.deliveredAt);
    expect(begun.filter((at) => at > deletedAt!)).toEqual([]);
    expect(begun.length).toBeLessThanOrEqual(1);
  });

  it('cancels what an endpoint got while it was being deactivated, and counts it', async () => {
    const subscription = await subscribe(service, receiver);
    const { endpoint, path } = subscription;
    await subscription.deactivate(endpoint);
    expect(await subscription.health(endpoint)).toMatchObject({ cancelling: { cancelled: 0 } });
    // The rows are those of first attempts in flight that failed just after the deactivation.
    await insertPendingDeliveries(service, subscription, 2);
    const statuses = async () => (await subscription.list()).map(({ status }) => status);
    expect(await statuses()).toEqual(['cancelled', 'cancelled']);

    await waitFor('their rows in the history', async () => {
      const rows = await deliveriesOf(service, endpoint);
      return rows.every(({ status, finished_at }) => status === 'CANCELLED' && finished_at !== null);
    });
    expect(await statuses()).toEqual(['cancelled', 'cancelled']);
    expect(await subscription.health(endpoint)).toMatchObject({
      cancelling: { cancelled: 2 },
      last24Hours: { pending: 0, cancelled: 2 },
    });
    expect(receiver.received(path)).toEqual([]);
  });

  it('takes over a retry whose worker is gone, and counts its attempt once', async () => {
    const subscription = await subscribe(service, receiver);
    const { endpoint, path } = subscription;
    receiver.https.respond = (response) => response.writeHead(500).end();
    await send(subscription, 1);
    await waitForAttempts(service, endpoint, 1);
    held.hold(path);
    await makeRetriesDue(host, endpoint);
    await held.waitForCount(path, 1);
    await endLeases(service, endpoint);
    await host.wake(endpoint);

    await held.waitForCount(path, 2);
    held.release(path);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED');
    expect(await attemptsOf(service, endpoint)).toMatchObject([
      { round: 1, attempt: 1, status_code: 500 },
      { round: 1, attempt: 2, status_code: 200 },
    ]);
  });

  it('has each delivery in exactly one place, whatever becomes of it', async () => {
    const subscription = await subscribe(service, receiver);
    const { workspace, endpoint, path } = subscription;
    const places = async () => {
      const [row] = await service.query<Record<'queue' | 'pending' | 'history', number>>(
        `SELECT (SELECT count(*)::int FROM event_queue WHERE tenant_id = $1) AS queue,
                (SELECT count(*)::int FROM pending_deliveries WHERE tenant_id = $1) AS pending,
                (SELECT count(*)::int FROM webhook_deliveries WHERE tenant_id = $1) AS history`,
        [workspace.id],
      );
      return row;
    };
    held.hold(path);
    await send(subscription, 1);
    await held.waitForCount(path, 1);
    expect(await places()).toEqual({ queue: 1, pending: 0, history: 0 });

    held.release(path, 500);
    await waitForAttempts(service, endpoint, 1);
    expect(await places()).toEqual({ queue: 0, pending: 1, history: 0 });

    receiver.https.respond = (response) => response.end('ok');
    await makeRetriesDue(host, endpoint);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED');
    expect(await places()).toEqual({ queue: 0, pending: 0, history: 1 });
  });

  it('serves an endpoint that is added while others are busy', async () => {
    const busy = await subscribe(service, receiver);
    held.hold(busy.path);
    await send(busy, 1);
    await held.waitForCount(busy.path, 1);
    const path = `${busy.path}-new`;
    const endpoint = await busy.addEndpoint(receiver.url(path), { events: ['*'] });
    await send(busy, 1);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 1);
    held.release(busy.path);
    await waitForDeliveries(service, busy.endpoint, 'SUCCEEDED', 2);
  });

  it('claims no event that was queued after the claim had begun, because it may be for a new endpoint', async () => {
    const subscription = await subscribe(host, receiver);
    const { id: tenantId } = subscription.workspace;
    const [events, subscribers] = [host.get(EventQueueRepository), host.get(SubscribersRepository)];
    const claim = (tx: Transaction) => events.claim(tx, new Map([[tenantId, 10]]), newId());
    // The worker must not claim them first.
    const trusted = jest.spyOn(DatabaseClock.prototype, 'isTrusted', 'get').mockReturnValue(false);
    try {
      await subscription.message('Before');
      const claimed = await host.get(Database).queueTransaction(async (tx) => {
        await subscribers.lockWorkspaceSubscribers(tx, [tenantId]);
        await subscription.addEndpoint(receiver.url(`${subscription.path}-added`));
        await subscription.message('For both');
        const found = await claim(tx);
        await events.giveBack(tx, found);
        return found;
      });
      const messages = claimed.filter(({ type }) => type === 'message.created');
      expect(messages.map(({ data }) => JSON.parse(data).message.body)).toEqual(['Before']);
    } finally {
      trusted.mockRestore();
    }
    await receiver.waitForCount(2, subscription.path);
    await receiver.waitForCount(1, `${subscription.path}-added`);
  });

  it('relays a bounded number of events in one turn, however many workspaces have some and no endpoint', async () => {
    const workspaces = await Promise.all(Array.from({ length: 50 }, () => service.make.workspace()));
    const tenantIds = workspaces.map(({ id }) => id);
    const turns: number[] = [];
    const relay = service.app.get(OutboxRelay, { strict: false });
    relay.register(
      consumerOf((events) => {
        turns.push(events.filter(({ tenantId }) => tenantIds.includes(tenantId)).length);
        return Promise.resolve();
      }),
    );
    await service.query(
      `WITH event AS (
         INSERT INTO events (tenant_id, id, type, data, created_at)
         SELECT tenant_id, id, 'conversation.updated', '{}', now() FROM unnest($1::uuid[], $2::uuid[]) AS e (tenant_id, id)
         RETURNING tenant_id, id
       ) INSERT INTO event_queue (tenant_id, event_id) SELECT tenant_id, id FROM event`,
      [tenantIds.flatMap((id) => Array<string>(100).fill(id)), Array.from({ length: 5_000 }, newId)],
    );
    relay.wake(tenantIds);
    await waitFor('all events', () => turns.reduce((sum, count) => sum + count, 0) >= 5_000);
    expect(Math.max(...turns)).toBeLessThanOrEqual(500);
  });

  it('has left no rows that contradict each other', async () => {
    expect(await contradictions((sql) => service.query(sql))).toEqual([]);
  });
});
