import { newId } from '../../src/common/ids';
import { RedisSubscriber } from '../../src/redis/redis-subscriber';
import { RedisClient } from '../../src/redis/redis-client';
import { WakeUpQueue, wakeUpsOf } from '../../src/queue/wake-up-queue';
import { DELIVERY_QUEUE } from '../../src/webhooks/deliveries/delivery';
import { Polls } from '../../src/queue/polling/polls';
import { AdvisoryLock } from '../support/advisory-lock';
import { waitForLockWait } from '../support/lock-waits';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { deliveriesOf, waitForDeliveries } from '../support/stored-deliveries';
import { subscribe } from '../support/webhook-workspace';
import { redisConnections } from '../support/redis-connections';
import { TcpProxy } from '../support/tcp-proxy';
import { RedisMonitor } from '../support/redis-monitor';
import { waitFor } from '../support/wait';

it('loses no wake-up that comes while the endpoint’s job is active, without the poll', async () => {
  const service = await TestService.create({ role: 'all' });
  const receiver = await Receiver.start();
  const claims = await ClaimGate.close(service);
  const wakeUps = await WakeUpWatch.start(service);
  try {
    await service.app.get(Polls, { strict: false }).beforeApplicationShutdown();
    const { workspace, conversation, endpoint } = await subscribe(service, receiver);
    // An endpoint with a rate of its own gets its deliveries through a claim. And each wake-up adds a job.
    await service.query('UPDATE webhook_endpoints SET rate_limit = 100 WHERE id = $1', [endpoint.id]);
    service.app.get<WakeUpQueue>(wakeUpsOf(DELIVERY_QUEUE), { strict: false }).stopHandlingLocally();

    await service.make.received(workspace, conversation, 'First');
    await claims.waitForOne();
    const wakeUpsBefore = wakeUps.countOf(endpoint.id);
    await service.make.received(workspace, conversation, 'Second');
    await waitFor('the second delivery', async () => (await deliveriesOf(service, endpoint)).length === 2);
    await waitFor('its wake-up', () => wakeUps.countOf(endpoint.id) > wakeUpsBefore);
    await claims.open();

    // The limit is below the end of the first delivery's lease.
    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 2, 10_000);
  } finally {
    wakeUps.stop();
    await claims.open();
    await service.close();
    await receiver.stop();
  }
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

/** Counts how often a job for an endpoint is offered to Redis, whether or not one exists already. */
class WakeUpWatch {
  private constructor(
    private readonly looked: string[],
    private readonly monitor: RedisMonitor,
  ) {}

  static async start({ stores }: TestService): Promise<WakeUpWatch> {
    const looked: string[] = [];
    // Bull's script searches for a job of that id before it adds one.
    const monitor = await RedisMonitor.start(stores.redisUrl, ([command, key]) => {
      if (command!.toLowerCase() === 'exists') looked.push(key!);
    });
    return new WakeUpWatch(looked, monitor);
  }

  countOf(endpointId: string): number {
    return this.looked.filter((key) => key.endsWith(`:${endpointId}`)).length;
  }

  stop(): void {
    this.monitor.stop();
  }
}
