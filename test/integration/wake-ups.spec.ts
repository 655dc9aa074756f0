import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../src/config/config';
import { OutboxSignal } from '../../src/outbox/outbox.signal';
import { RedisSubscriber } from '../../src/redis/redis-subscriber';
import { RedisClient } from '../../src/redis/redis.module';
import { DeliveryQueue } from '../../src/webhooks/deliveries/delivery.queue';
import { PendingDeliveriesRepository } from '../../src/webhooks/deliveries/pending-deliveries.repository';
import { DeliverySweeper } from '../../src/webhooks/deliveries/delivery.sweeper';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { deliveriesOf, subscribe, waitForDeliveries } from '../support/subscription';
import { TcpProxy } from '../support/tcp-proxy';
import { waitFor } from '../support/wait';

/** Long after a commit's wake-up has reached Redis. */
const WAKE_UP_MS = 200;

it('loses no wake-up that comes while the endpoint’s job is active, and needs no sweeper for it', async () => {
  const service = await TestService.create({ role: 'all' });
  const receiver = await Receiver.start();
  try {
    await service.app.get(DeliverySweeper, { strict: false }).beforeApplicationShutdown();
    const { workspace, conversation, endpoint } = await subscribe(service, receiver);
    // An endpoint with a rate of its own: its deliveries go through a claim. And whatever wakes it adds a job.
    await service.query('UPDATE webhook_endpoints SET rate_limit = 100 WHERE id = $1', [endpoint.id]);
    service.app.get(DeliveryQueue, { strict: false }).stopHandlingLocally();
    const job = holdClaims(service.app.get(PendingDeliveriesRepository, { strict: false }));

    await service.make.received(workspace, conversation, 'First');
    await job.active;
    await service.make.received(workspace, conversation, 'Second');
    await waitFor('the second delivery', async () => (await deliveriesOf(service, endpoint)).length === 2);
    await sleep(WAKE_UP_MS);
    job.release();

    await waitForDeliveries(service, endpoint, 'SUCCEEDED', 2);
  } finally {
    await service.close();
    await receiver.stop();
  }
});

it('hears of what is appended although its connection has died without a word', async () => {
  const service = await TestService.create();
  const proxy = await TcpProxy.start(service.stores.redisUrl);
  const subscriber = new RedisSubscriber({ redisUrl: proxy.address } as Config);
  const listener = new OutboxSignal(service.app.get(RedisClient), subscriber);
  const speaker = service.app.get(OutboxSignal);
  let heard = 0;
  const isHeard = () => {
    speaker.send();
    return heard > 0;
  };
  try {
    listener.onSignal(() => (heard += 1));
    await waitFor('a signal', isHeard);

    proxy.silence();
    await sleep(WAKE_UP_MS); // for what was on its way already
    heard = 0;

    await waitFor('a signal over another connection', isHeard);
  } finally {
    subscriber.onApplicationShutdown();
    await proxy.cut();
    await service.close();
  }
});

/** Lets the first claim that finds something come back only when it is told to: so long is its job active. */
function holdClaims(store: PendingDeliveriesRepository): { active: Promise<void>; release: () => void } {
  let release = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const claim = store.claim.bind(store);
  const active = new Promise<void>((resolve) => {
    store.claim = async (...of) => {
      const claimed = await claim(...of);
      if (claimed.length > 0) resolve();
      await released;
      return claimed;
    };
  });
  return { active, release: () => release() };
}
