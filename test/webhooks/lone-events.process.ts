import { SYSTEM } from '../../src/access/principal';
import { HeldAnswers } from '../support/held-answers';
import { contradictions } from '../support/integrity';
import { MessagingHost } from '../support/messaging-host';
import { ReceivedWebhook, Receiver } from '../support/receiver';
import { ServiceProcess } from '../support/service-process';
import { TestService } from '../support/service';
import { endEventLeases, waitForDeliveries } from '../support/stored-deliveries';
import { letTimePass } from '../support/wait';
import { subscribe } from '../support/webhook-workspace';

/** Pairs of events: one that comes alone, and one that comes a millisecond later. */
const PAIRS = 20;
/** Time in which an attempt that was claimed before would begin. */
const CLAIMED_MS = 1_000;
const SLOW = 45_000;

/** Two workers, of which one is killed while an event that came alone is under way. */
describe('an event that comes alone, and one a millisecond later', () => {
  let service: TestService;
  let host: MessagingHost;
  let receiver: Receiver;
  let held: HeldAnswers;
  let workers: ServiceProcess[];

  beforeAll(async () => {
    service = await TestService.create({ role: 'api' });
    host = await MessagingHost.create({ beside: service });
  });
  beforeEach(async () => {
    receiver = await Receiver.start();
    held = new HeldAnswers(receiver);
    workers = await Promise.all([1, 2].map(() => ServiceProcess.start('worker', service.stores)));
  });
  afterEach(async () => {
    for (const worker of workers) {
      worker.kill('SIGKILL');
      await worker.exited;
    }
    await receiver.stop();
    expect(await contradictions((sql) => service.query(sql))).toEqual([]);
  });

  type Subscribed = Awaited<ReturnType<typeof subscribe>>;

  async function sendPair({ workspace, conversation }: Subscribed, n: number): Promise<string[]> {
    const first = service.make.received(workspace, conversation, `${n} alone`);
    await letTimePass(1);
    const second = service.make.received(workspace, conversation, `${n} later`);
    return (await Promise.all([first, second])).map(({ id }) => id);
  }

  async function kill(worker: ServiceProcess): Promise<void> {
    worker.kill('SIGKILL');
    await worker.exited;
  }

  const idOf = ({ envelope }: ReceivedWebhook) => envelope.data.message.id as string;

  it('come once each, numbered in the order of their conversation, and at most twice after a kill', async () => {
    const subscription = await subscribe(host, receiver, { events: ['message.created'] });
    const { workspace, endpoint, path } = subscription;
    const sent: string[] = [];
    for (let n = 0; n < PAIRS; n++) {
      sent.push(...(await sendPair(subscription, n)));
      await receiver.waitForCount(sent.length, path);
    }
    expect(receiver.received(path).map(idOf).sort()).toEqual([...sent].sort());

    // An attempt is recorded up to 50 ms later. A kill in between would repeat these too.
    await waitForDeliveries(service, endpoint, 'SUCCEEDED', sent.length, SLOW);

    held.hold(path);
    sent.push(...(await sendPair(subscription, PAIRS)));
    await held.waitForCount(path, 2);
    await kill(workers[0]!);
    await kill(workers[1]!);
    workers.push(await ServiceProcess.start('worker', service.stores));
    await endEventLeases(service, workspace);
    held.release(path);

    await waitForDeliveries(service, endpoint, 'SUCCEEDED', sent.length, SLOW);
    const received = receiver.received(path);
    const numbers = new Map(received.map((one) => [idOf(one), Number(one.headers['x-service-sequence'])]));
    expect([...numbers.keys()].sort()).toEqual([...sent].sort());
    // A receiver orders them by their numbers, which rise as the messages were written.
    expect([...sent].sort((a, b) => numbers.get(a)! - numbers.get(b)!)).toEqual([...sent].sort());
    const twice = received.map(idOf).filter((id, n, all) => all.indexOf(id) !== n);
    expect([...twice].sort()).toEqual(sent.slice(-2).sort());
  }, 120_000);

  it('keep the rate of an endpoint over both workers, though one is killed', async () => {
    const subscription = await subscribe(host, receiver, { events: ['message.created'] });
    const { workspace, endpoint, path } = subscription;
    const settings = { version: 1, rateLimit: 1 };
    await subscription.endpoints.update(workspace.id, endpoint.id, settings, SYSTEM);
    const sent = [...(await sendPair(subscription, 1)), ...(await sendPair(subscription, 2))];
    await receiver.waitForCount(1, path);
    await kill(workers[0]!);

    await waitForDeliveries(service, endpoint, 'SUCCEEDED', sent.length, SLOW);
    const received = receiver.received(path);
    const times = received.map(({ envelope }) => Date.parse(envelope.deliveredAt)).sort((a, b) => a - b);
    // Two windows of a second may touch, each with one attempt.
    for (const [n, at] of times.slice(2).entries()) expect(at - times[n]!).toBeGreaterThanOrEqual(1_000);
  }, 120_000);

  it('reach no endpoint after its deactivation', async () => {
    for (let n = 0; n < 5; n++) {
      const subscription = await subscribe(host, receiver, { events: ['message.created'] });
      const { endpoint, path } = subscription;
      await sendPair(subscription, 0);
      await receiver.waitForCount(2, path);
      const sending = sendPair(subscription, 1);
      await letTimePass(n * 5);
      await subscription.deactivate(endpoint);
      const answeredAt = Date.now();
      if (n === 0) await kill(workers[0]!);
      await sending;
      await letTimePass(CLAIMED_MS);
      await sendPair(subscription, 2);
      await letTimePass(CLAIMED_MS);
      const begun = receiver.received(path).map(({ envelope }) => Date.parse(envelope.deliveredAt));
      expect(begun.filter((at) => at > answeredAt)).toEqual([]);
    }
  }, 120_000);
});
