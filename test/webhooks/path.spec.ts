import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CallCounter } from '../support/call-counter';
import { Receiver } from '../support/receiver';
import { TestService } from '../support/service';
import { letTimePass, waitFor } from '../support/wait';
import { WebhookWorkspace } from '../support/webhook-workspace';

/**
 * Files of the engine: those that decide whether, when and how a delivery goes out. The ground (database,
 * redis, common) and the counts of attempts are others.
 */
const ENGINE = /^src\/(outbox\/|queue\/(?!floors|polling)|webhooks\/(deliveries|endpoints|sending)\/)/;
/** Files of the network, a room whose one door is DeliverySender. */
const NETWORK = /^src\/webhooks\/sending\/(?!delivery-sender)/;
/**
 * Files that run before an event is committed, after its attempt is recorded, if a wake-up is lost, or by the
 * clock: how often LoadControl looks does not depend on events, but on how busy the machine is.
 */
const BESIDE =
  /\/(outbox\.service|endpoint-health|endpoint-health\.repository|endpoint-alerts|outbox-poll|delivery-poll|due-deliveries\.repository|load-control)\.ts$/;
const EVENTS = 40;
const RETRIES = 30;
const ROOT = resolve(__dirname, '../..');

const PATH = [
  'src/outbox/event-catalog.ts',
  'src/outbox/event-queue.repository.ts',
  'src/outbox/outbox-relay.ts',
  'src/outbox/relay-turn.ts',
  'src/queue/lease-worker.ts',
  'src/queue/slot-pool.ts',
  'src/queue/start-capacity.ts',
  'src/queue/targets.ts',
  'src/webhooks/deliveries/attempt-recorder.ts',
  'src/webhooks/deliveries/delivery-attempter.ts',
  'src/webhooks/deliveries/delivery-fan-out.ts',
  'src/webhooks/deliveries/delivery-history.repository.ts',
  'src/webhooks/deliveries/delivery.ts',
  'src/webhooks/deliveries/delivery.worker.ts',
  'src/webhooks/deliveries/webhooks.consumer.ts',
  'src/webhooks/endpoints/subscribers.repository.ts',
  'src/webhooks/endpoints/subscription.ts',
  'src/webhooks/sending/delivery-sender.ts',
];
const PATH_OF_A_RETRY = [
  'src/queue/wake-ups.ts',
  'src/webhooks/deliveries/delivery-claimer.ts',
  'src/webhooks/deliveries/pending-deliveries.repository.ts',
];

let service: TestService;
let receiver: Receiver;
let counter: CallCounter;

beforeAll(async () => {
  receiver = await Receiver.start();
  service = await TestService.create({ role: 'all' });
  counter = await CallCounter.start();
});
afterAll(async () => {
  await counter.stop();
});

/** Returns how often each function of the engine was called since the last call of this function. */
async function takeCalls(): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  for (const { url, functionName, startOffset, count } of await counter.take()) {
    const file = relative(ROOT, url.startsWith('file:') ? fileURLToPath(url) : url);
    // The compiler makes a getter of each export, also of a constant.
    if (!ENGINE.test(file) || functionName.startsWith('get ')) continue;
    const key = `${file}#${functionName}@${startOffset}`;
    // Copies of a file that earlier test files have loaded may be listed too.
    calls.set(key, (calls.get(key) ?? 0) + count);
  }
  return calls;
}

/**
 * Returns the files with a function that runs for at least every sixth of the events, because several events
 * may share a turn or a batch. What runs in the same time without any event does not count.
 */
async function filesOf(events: number, work: () => Promise<void>): Promise<string[]> {
  await takeCalls();
  const startedAt = performance.now();
  await work();
  const durationMs = performance.now() - startedAt;
  const calls = await takeCalls();
  await letTimePass(durationMs);
  const idle = await takeCalls();
  const files = [...calls]
    .filter(([key, count]) => count - (idle.get(key) ?? 0) >= events / 6)
    .map(([key]) => key.split('#')[0]!);
  return [...new Set(files)].filter((file) => !NETWORK.test(file) && !BESIDE.test(file)).sort();
}

it('takes an event from its commit to the record of its attempt through 18 files', async () => {
  const workspace = await WebhookWorkspace.create(service);
  await workspace.addEndpoint(receiver.url('/answers'), { events: ['message.created'] });
  const waitForRecords = (count: number) =>
    waitFor(`${count} records`, async () => {
      const [row] = await service.query<{ count: number }>(
        'SELECT count(*)::int FROM webhook_deliveries WHERE tenant_id = $1',
        [workspace.id],
      );
      return row!.count === count;
    });
  // The first delivery resolves the name and opens the connection.
  await workspace.message();
  await waitForRecords(1);
  const files = await filesOf(EVENTS, async () => {
    for (let n = 1; n <= EVENTS; n++) {
      await workspace.message();
      await waitForRecords(n + 1);
    }
  });
  expect(files).toEqual(PATH);
});

it('takes a retry through four more', async () => {
  const workspace = await WebhookWorkspace.create(service);
  await workspace.addEndpoint(receiver.url('/fails-first'), { events: ['message.created'] });
  const failed = new Set<string>();
  receiver.https.respond = (response, { path, headers }) => {
    const id = String(headers['webhook-id']);
    response.statusCode = path === '/fails-first' && !failed.has(id) ? 500 : 200;
    failed.add(id);
    response.end();
  };
  const files = await filesOf(RETRIES, async () => {
    for (let n = 1; n <= RETRIES; n++) {
      await workspace.message();
      await receiver.waitForCount(n, '/fails-first');
    }
    await receiver.waitForCount(2 * RETRIES, '/fails-first');
  });
  expect(files).toEqual([...PATH, ...PATH_OF_A_RETRY].sort());
});
