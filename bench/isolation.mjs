// How much one hanging endpoint costs the others: 100 workspaces with an endpoint each get messages at a steady rate,
// with all endpoints answering, and with one of them hanging for the whole 10 s of every attempt; in turn, three times.
// Prints the latency from a message's making to its receiver, and what it is with the hanging one against without.
import { machine, setStage } from './support/stage.mjs';
import { median, percentiles } from './support/statistics.mjs';

const ENDPOINTS = 100;
const RATE = Number(process.env.RATE ?? 100);
const SECONDS = Number(process.env.SECONDS ?? 15);
const ROUNDS = 3;
const WORKER_PORT = 3998;

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

const stage = await setStage();
const receiver = await stage.startReceiver();
await stage.startProcess('worker', WORKER_PORT);
const { app, messaging, get } = await stage.openServices();

/** A workspace whose one endpoint is at `path`. */
async function workspaceAt(/** @type {string} */ path, /** @type {string} */ slug) {
  const { id } = await get('WorkspacesService').create({ name: slug, slug, planTier: 'PRO' });
  await get('AgentsService').create(
    id,
    { name: 'Ann', email: 'ann@example.com', role: 'OWNER' },
    messaging.SYSTEM,
  );
  const contact = await get('ContactsService').create(id, { name: 'Zoe' });
  const conversation = await get('ConversationsService').create(id, {
    contactId: contact.id,
    channel: 'WIDGET',
  });
  const url = `https://127.0.0.1:${receiver.port}${path}`;
  await get('WebhookEndpointsService').create(id, { url, events: ['message.created'] }, messaging.SYSTEM);
  return { id, conversationId: conversation.id };
}

/** Sends to all workspaces in turn, at the rate. */
async function offer(/** @type {{ id: string, conversationId: string }[]} */ workspaces) {
  const messages = get('MessagesService');
  const total = RATE * SECONDS;
  const startedAt = performance.now();
  const sent = [];
  for (let count = 0; count < total; count++) {
    const wait = startedAt + (count * 1000) / RATE - performance.now();
    if (wait > 1) await sleep(wait);
    const { id, conversationId } = workspaces[count % workspaces.length];
    sent.push(messages.send(id, conversationId, { body: 'Where is my parcel?' }));
  }
  await Promise.all(sent);
}

const others = [];
for (let n = 1; n < ENDPOINTS; n++) others.push(await workspaceAt('/', `healthy-${n}`));
const healthy = await workspaceAt('/', 'healthy-0');
const hanging = await workspaceAt('/hang', 'hanging');

/** @type {Record<string, number[][]>} */
const rounds = { without: [], with: [] };
await offer(others); // warms up
await sleep(500);
await receiver.take();
for (let round = 0; round < ROUNDS; round++) {
  for (const kind of /** @type {const} */ (['without', 'with'])) {
    await offer([...others, kind === 'with' ? hanging : healthy]);
    await sleep(1_000);
    const latencies = await receiver.take();
    const expected = kind === 'with' ? (RATE * SECONDS * (ENDPOINTS - 1)) / ENDPOINTS : RATE * SECONDS;
    if (latencies.length < expected)
      throw new Error(`${latencies.length} of ${expected} arrived: no figure from that`);
    rounds[kind].push(percentiles(latencies, [50, 95, 99]));
  }
}

const row = (/** @type {string} */ kind) =>
  [0, 1, 2].map((rank) => median(rounds[kind].map((round) => round[rank])));
const [without, withOne] = [row('without'), row('with')];
console.log(`Isolation: ${ENDPOINTS} endpoints, ${RATE} messages/s, ${ROUNDS} × ${SECONDS} s; ${machine}`);
console.log('latency, ms (median of rounds)   p50   p95   p99');
console.log(`all endpoints answer           ${without.map((ms) => String(ms).padStart(5)).join(' ')}`);
console.log(`one of them hangs              ${withOne.map((ms) => String(ms).padStart(5)).join(' ')}`);
const ratio = median(rounds.with.map((round, n) => round[1] / rounds.without[n][1]));
console.log(`p95 of the others, with against without: × ${ratio.toFixed(2)} (limit 1.20)`);
await app.close();
await stage.stop();
