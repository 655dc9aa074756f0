import { ServerResponse } from 'node:http';
import Redis from 'ioredis';
import { OutboxConsumer, OutboxRelay } from '../../src/outbox/outbox.relay';
import { SYSTEM } from '../../src/common/principal';
import { DeliveryQueue } from '../../src/webhooks/deliveries/delivery.queue';
import { WebhookEndpointsService } from '../../src/webhooks/endpoints/webhook-endpoints.service';
import { Dashboard } from '../support/dashboard';
import { hasLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import {
  attemptsOf,
  makeRetriesDue,
  deliveriesOf,
  subscribe,
  Subscription,
  waitForAttempts,
  waitForDeliveries,
} from '../support/webhook-workspace';
import { waitFor } from '../support/wait';

const CAP = 3;
const SLOW = 30_000;

/** Two workers on one database and Redis, and what is done to them. */
describe('delivery engine', () => {
  let service: TestService;
  let dashboard: Dashboard;
  let receiver: Receiver;
  let redis: Redis;
  /** Answers that the receiver has not given yet, by path, while it holds them back. */
  let held: Map<string, ServerResponse[]>;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all', env: { WEBHOOK_ENDPOINT_CONCURRENCY: String(CAP) } });
    dashboard = await Dashboard.create({ beside: service });
    redis = new Redis(service.stores.redisUrl);
    receiver = await Receiver.start();
  });
  afterAll(async () => {
    redis.disconnect();
    await dashboard.close();
    await service.close();
    await receiver.stop();
  });
  beforeEach(() => {
    held = new Map();
    receiver.https.respond = (response) => response.end('ok');
  });

  /** From now on, what comes to this path waits for `release`. */
  function hold(path: string): void {
    held.set(path, []);
    receiver.https.respond = (response, request) => {
      const waiting = held.get(request.path);
      if (waiting) waiting.push(response);
      else response.end('ok');
    };
  }

  function release(path: string, status = 200): void {
    const waiting = held.get(path) ?? [];
    held.delete(path);
    for (const response of waiting) response.writeHead(status).end();
  }

  async function send({ workspace, conversation }: Subscription, count: number): Promise<void> {
    for (let n = 0; n < count; n++) await service.make.received(workspace, conversation, `Message ${n}`);
  }

  const underWay = (path: string, count: number) =>
    waitFor(`${count} deliveries under way`, () => held.get(path)!.length >= count);

  async function expectAllPlacesFree(subscription: Subscription): Promise<void> {
    hold(subscription.path);
    await send(subscription, CAP);
    await underWay(subscription.path, CAP);
    release(subscription.path);
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
    const consumer: OutboxConsumer = {
      consume: (_, events) => {
        if (throws-- > 0) return Promise.reject(new Error('thrown once'));
        seen.push(...events.filter((event) => event.tenantId === tenantId).map(({ id }) => id));
        return Promise.resolve();
      },
    };
    service.app.get(OutboxRelay).register(consumer);

    await send(subscription, 3);

    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', 3);
    const events = await service.query<{ id: string }>(
      `SELECT id FROM events WHERE tenant_id = $1 AND type = 'message.created' AND relayed_at IS NOT NULL`,
      [tenantId],
    );
    expect(throws).toBeLessThan(1);
    expect(seen).toEqual(expect.arrayContaining(events.map(({ id }) => id)));
    expect(new Set(seen).size).toBe(seen.length);
    expect(receiver.received(subscription.path)).toHaveLength(3);
    await expectAllPlacesFree(subscription);
  });

  it('starts deliveries without a claim while slots are free, and claims the rest later', async () => {
    const subscription = await subscribe(service, receiver);
    hold(subscription.path);
    // A lease from the transaction that relayed the event: no claim has touched the row since.
    const leases = () =>
      service.query<{ leased: boolean; unclaimed: boolean }>(
        `SELECT d.lease_id IS NOT NULL AS leased, d.xmin = e.xmin AS unclaimed
         FROM webhook_deliveries d JOIN events e ON e.tenant_id = d.tenant_id AND e.id = d.event_id
         WHERE d.endpoint_id = $1 ORDER BY d.id`,
        [subscription.endpoint.id],
      );
    const started = { leased: true, unclaimed: true };
    const waiting = { leased: false, unclaimed: true };

    for (let n = 1; n <= CAP; n++) {
      await send(subscription, 1);
      await underWay(subscription.path, n);
    }
    expect(await leases()).toEqual(Array(CAP).fill(started));

    await send(subscription, 2);
    await subscription.waitForRelay();
    expect(await leases()).toEqual([...Array<object>(CAP).fill(started), waiting, waiting]);
    release(subscription.path);
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', CAP + 2);
    expect(receiver.received(subscription.path)).toHaveLength(CAP + 2);
  });

  it('sends nothing again when an event is relayed again', async () => {
    const subscription = await subscribe(service, receiver);
    await send(subscription, CAP);
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED', CAP);

    await service.query('UPDATE events SET relayed_at = NULL WHERE tenant_id = $1', [
      subscription.workspace.id,
    ]);
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
    const { endpoint, path } = subscription;
    hold(path);
    const queue = service.app.get(DeliveryQueue);
    await send(subscription, 20);
    // Jobs of their own, as those of retries are: any number of them can run at the same time.
    for (let n = 0; n < 20; n++) queue.wakeIn(endpoint.id, n * 100);

    await underWay(path, CAP);
    let most = 0;
    for (let answered = 0; answered < 20;) {
      await underWay(path, 1);
      const waiting = held.get(path)!;
      const [{ leased }] = (await service.query<{ leased: number }>(
        `SELECT count(*)::int AS leased FROM webhook_deliveries WHERE endpoint_id = $1 AND lease_until > now()`,
        [endpoint.id],
      )) as [{ leased: number }];
      most = Math.max(most, waiting.length, leased);
      waiting.shift()!.end();
      answered++;
    }

    held.delete(path);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 20);
    expect(most).toBe(CAP);
    expect(receiver.received(path)).toHaveLength(20);
  }, 60_000);

  it('serves others while one endpoint hangs, and gives the hanging one ten seconds', async () => {
    const hanging = await subscribe(service, receiver);
    const other = await subscribe(service, receiver);
    hold(hanging.path);
    await send(hanging, CAP + 2);
    await underWay(hanging.path, CAP);

    await send(other, 10);
    await waitForDeliveries(service, other.endpoint, 'SUCCEEDED', 10);

    expect((await deliveriesOf(service, hanging.endpoint)).every(({ status }) => status === 'PENDING')).toBe(
      true,
    );
    const attempts = await waitForAttempts(service, hanging.endpoint, CAP, SLOW);
    expect(attempts.slice(0, CAP)).toEqual(
      Array(CAP).fill(expect.objectContaining({ error: 'timeout', status_code: null, response: null })),
    );
    expect(attempts[0]!.duration_ms).toBeGreaterThanOrEqual(9_990);
    release(hanging.path);
    await makeRetriesDue(dashboard, hanging.endpoint);
    await waitForDeliveries(service, hanging.endpoint, 'SUCCEEDED', CAP + 2, SLOW);
  }, 60_000);

  it('begins no attempt once its endpoint is deleted, even while the event is being relayed', async () => {
    const subscription = await subscribe(service, receiver);
    const { workspace, endpoint, path } = subscription;
    let deletedAt: string | null = null;
    const remove = async () => {
      await service.app.get(WebhookEndpointsService).delete(workspace.id, endpoint.id, SYSTEM);
      deletedAt = new Date().toISOString();
    };
    const consumer: OutboxConsumer = {
      consume: async (tx, events) => {
        if (!events.some(({ tenantId, type }) => tenantId === workspace.id && type === 'message.created'))
          return;
        if (deletedAt !== null) return;
        const deliveries = () =>
          tx.query('SELECT FROM webhook_deliveries WHERE endpoint_id = $1', [endpoint.id]);
        await waitFor('the delivery to be inserted', async () => (await deliveries()).length > 0);
        void remove();
        await waitFor(
          'the deletion to wait for the relay, or to be done',
          async () => deletedAt !== null || (await hasLockWait(service)),
        );
      },
    };
    service.app.get(OutboxRelay).register(consumer);

    await subscription.message('First');

    await waitFor('the deletion', () => deletedAt);
    await waitFor('its outcome', async () => {
      const [delivery] = await deliveriesOf(service, endpoint);
      return delivery !== undefined && delivery.status !== 'PENDING';
    });
    // A later event has been delivered, so nothing for the deleted endpoint is still to come.
    const another = await subscription.addEndpoint(receiver.url(`${path}-2`));
    await subscription.message('Second');
    await waitForDeliveries(service, another, 'SUCCEEDED');
    const begun = receiver.received(path).map(({ envelope }) => envelope.deliveredAt);
    expect(begun.filter((at) => at > deletedAt!)).toEqual([]);
    expect(begun.length).toBeLessThanOrEqual(1);
  });

  it('cancels what an endpoint got while it was being deactivated', async () => {
    const subscription = await subscribe(service, receiver);
    const { endpoint, path } = subscription;
    receiver.https.respond = (response) => response.writeHead(500).end();
    await send(subscription, 1);
    await waitForAttempts(service, endpoint, 1);
    // As if the consumer had committed just after the deactivation.
    await service.query('UPDATE webhook_endpoints SET active = false WHERE id = $1', [endpoint.id]);
    await makeRetriesDue(dashboard, endpoint);
    await waitForDeliveries(service, endpoint, 'CANCELLED', 1, SLOW);
    expect(receiver.received(path)).toHaveLength(1);
  });

  it('goes on when its connections to PostgreSQL are cut', async () => {
    const subscription = await subscribe(service, receiver);
    const { endpoint, path } = subscription;
    hold(path);
    await send(subscription, 2);
    await underWay(path, 2);
    await service.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
    );
    release(path);
    await waitFor('an answer from the database', () => service.query('SELECT 1').catch(() => null));
    await service.make.received(subscription.workspace, subscription.conversation, 'After the cut');

    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 3, SLOW);
    expect((await attemptsOf(service, endpoint)).length).toBeGreaterThanOrEqual(3);
  }, 60_000);

  it('serves an endpoint that is added while others are busy', async () => {
    const busy = await subscribe(service, receiver);
    hold(busy.path);
    await send(busy, 1);
    await underWay(busy.path, 1);
    const path = `${busy.path}-new`;
    const endpoint = await busy.addEndpoint(receiver.url(path), { events: ['*'] });
    await send(busy, 1);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 1);
    release(busy.path);
    await waitForDeliveries(service, busy.endpoint, 'SUCCEEDED', 2);
  });
});
