import { newId } from '../../src/common/ids';
import { RedisSubscriber } from '../../src/redis/redis-subscriber';
import { RedisClient } from '../../src/redis/redis-client';
import { RedisSignals } from '../../src/redis/redis-signals';
import { TARGET_DUE } from '../../src/queue/targets';
import { WakeUps } from '../../src/queue/wake-ups';
import { DELIVERY_QUEUE } from '../../src/webhooks/deliveries/delivery';
import { Polls } from '../../src/queue/polling/polls';
import { AdvisoryLock } from '../support/advisory-lock';
import { waitForLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { insertPendingDeliveries, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe, Subscription } from '../support/webhook-workspace';
import { redisConnections } from '../support/redis-connections';
import { TcpProxy } from '../support/tcp-proxy';
import { RedisMonitor } from '../support/redis-monitor';
import { waitFor } from '../support/wait';

describe('without the polls', () => {
  let service: TestService;
  let receiver: Receiver;
  let subscription: Subscription;

  beforeAll(async () => {
    service = await TestService.create({ role: 'all' });
    receiver = await Receiver.start();
    await service.app.get(Polls, { strict: false }).beforeApplicationShutdown();
    const { workspace, conversation, path } = await subscribe(service, receiver);
    await waitFor('the worker to hear signals', async () => {
      await service.make.received(workspace, conversation);
      return receiver.received(path).length > 0;
    });
  });
  beforeEach(async () => {
    subscription = await subscribe(service, receiver);
  });

  const wakeUps = () => service.app.get(WakeUps, { strict: false });
  const target = () => ({ tenantId: subscription.id, id: subscription.endpoint.id });

  it.each([
    { way: 'a call', wake: () => wakeUps().wake(DELIVERY_QUEUE, [target()]) },
    { way: 'a delayed call', wake: () => wakeUps().wakeIn(DELIVERY_QUEUE, target(), 30) },
    { way: 'a job', wake: () => wakeUps().wakeOthers(DELIVERY_QUEUE, target()) },
    {
      way: 'a signal',
      wake: () =>
        service.app
          .get(RedisSignals)
          .send(TARGET_DUE, subscription.id, { queue: DELIVERY_QUEUE, target: target() }),
    },
  ])('delivers what is due when woken by $way', async ({ wake }) => {
    await insertPendingDeliveries(service, subscription);
    wake();
    await waitForDeliveries(service, subscription.endpoint, 'SUCCEEDED');
  });

  it('retries a delivery on time, and adds no job for it', async () => {
    const keys: string[] = [];
    const monitor = await RedisMonitor.start(service.stores.redisUrl, (words) => keys.push(words.join(' ')));
    const { path, endpoint, workspace, conversation } = subscription;
    receiver.https.respond = (response) => {
      const isFirst = receiver.received(path).length === 1;
      response.writeHead(isFirst ? 500 : 200).end();
    };
    await service.make.received(workspace, conversation);
    await waitForDeliveries(service, endpoint, 'SUCCEEDED');
    monitor.stop();
    expect(receiver.received(path)).toHaveLength(2);
    expect(keys.filter((key) => key.includes(endpoint.id))).toEqual([]);
  });

  it('loses no wake-up that comes while the endpoint’s deliveries are being claimed', async () => {
    const claims = await ClaimGate.close(service);
    try {
      const { endpoint } = subscription;
      await insertPendingDeliveries(service, subscription);
      wakeUps().wake(DELIVERY_QUEUE, [target()]);
      await claims.waitForOne();
      await insertPendingDeliveries(service, subscription);
      wakeUps().wake(DELIVERY_QUEUE, [target()]);
      await claims.open();

      // The limit is below the end of the first delivery's lease.
      await waitForDeliveries(service, endpoint, 'SUCCEEDED', 2, 10_000);
    } finally {
      await claims.open();
    }
  });
});

it('hears signals again after its connection died silently', async () => {
  const service = await TestService.create();
  const proxy = await TcpProxy.start(service.stores.redisUrl);
  const connections = redisConnections(proxy.address);
  const subscriber = new RedisSubscriber(connections);
  const speaker = service.app.get(RedisClient);
  const channel = newId();
  let heard = 0;
  const isHeard = async () => {
    await speaker.publish(channel, '');
    return heard > 0;
  };
  try {
    void subscriber.subscribe(channel, () => (heard += 1));
    await waitFor('a signal', isHeard);

    proxy.silence();
    // A signal that was published before the silence arrives no later than this one, which comes over another
    // connection.
    let passed = false;
    await service.app.get(RedisSubscriber).subscribe(channel, () => (passed = true));
    await waitFor('a signal past the proxy', async () => {
      await speaker.publish(channel, '');
      return passed;
    });
    heard = 0;

    await waitFor('a signal over another connection', isHeard);
  } finally {
    subscriber.onApplicationShutdown();
    connections.onApplicationShutdown();
    await proxy.cut();
    await service.close();
  }
});

/** Holds claims back inside PostgreSQL. A held claim has chosen its deliveries, and sees no later one. */
class ClaimGate {
  private constructor(
    private readonly service: TestService,
    private readonly lock: AdvisoryLock,
  ) {}

  static async close(service: TestService): Promise<ClaimGate> {
    await service.query(
      `CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN PERFORM pg_advisory_xact_lock_shared(1, 1); RETURN NEW; END'`,
    );
    await service.query(
      `CREATE TRIGGER gate BEFORE UPDATE ON pending_deliveries FOR EACH ROW
         WHEN (NEW.lease_id IS DISTINCT FROM OLD.lease_id AND NEW.lease_id IS NOT NULL) EXECUTE FUNCTION wait_at_gate()`,
    );
    return new ClaimGate(service, await AdvisoryLock.take(service.stores, 1, 1));
  }

  /** Settles when a claim waits at the gate. */
  waitForOne(): Promise<void> {
    return waitForLockWait(this.service, 'a claim');
  }

  open(): Promise<void> {
    return this.lock.release();
  }
}
