import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ApiClient } from '../support/api-client';
import { CountedProcess } from '../support/counted-process';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { letTimePass, waitFor } from '../support/wait';
import { subscribe } from '../support/webhook-workspace';
import { countEventWork, type EventWork, type WorkCounts } from '../support/work-counts.mjs';

const MESSAGES = 100;
const WARM_UP = 40;
/** Measurements at most. A busy machine can only add work, such as that of more polls during a message. */
const ATTEMPTS = 3;
/** Time between messages: the event of one is recorded before the next comes. */
const EVERY_MS = 100;
const CONVERSATIONS = 20;
/** Limit of calls a minute. It is too low for calls to be counted in Redis before they are made. */
const RATE_LIMIT = 490;
/** Largest growth of the sum of all figures. */
const MAX_GROWTH = 1.03;

/** Work of one process for a message with its event and webhook, beyond its work at rest. */
type Cost = Omit<EventWork, 'promises' | 'bytes'>;

type Costs = Record<'api' | 'worker', Cost>;

/** Costs that a message had when the file was written, and each rise of their sum since then. */
interface KnownCosts extends Costs {
  /** Rises, the latest last: the new sum of all figures, and the benefit that users get for it. */
  rises: { sum: number; benefit: string }[];
}

const KNOWN = JSON.parse(readFileSync(resolve(__dirname, 'message-cost.json'), 'utf8')) as KnownCosts;

it('costs a message with its webhook no more statements, writes and timers than it did', async () => {
  const host = await MessagingHost.create();
  const receiver = await Receiver.start();
  const { workspace, path } = await subscribe(host, receiver, { events: ['message.created'] });
  await host.query('UPDATE workspaces SET rate_limit = $2 WHERE id = $1', [workspace.id, RATE_LIMIT]);
  const conversations = await Promise.all(
    Array.from({ length: CONVERSATIONS }, () => host.make.conversation(workspace)),
  );
  const processes = {
    api: await CountedProcess.start('api', host.stores),
    worker: await CountedProcess.start('worker', host.stores),
  };
  const api = new ApiClient([processes.api.process.url], null).as(await host.make.apiKey(workspace));

  const send = async (count: number) => {
    const before = receiver.received(path).length;
    for (let n = 0; n < count; n++) {
      const { id } = conversations[n % CONVERSATIONS]!;
      const answer = api.post(`/conversations/${id}/messages`, { body: `It is on its way: ${n}` });
      await letTimePass(EVERY_MS);
      expect((await answer).status).toBe(201);
    }
    await receiver.waitForCount(before + count, path);
    await waitFor('all attempts to be recorded', async () => {
      const queued = await host.query('SELECT FROM event_queue WHERE tenant_id = $1', [workspace.id]);
      return queued.length === 0;
    });
  };
  const read = () => Promise.all([processes.api.read(), processes.worker.read()]);
  const allowed = (KNOWN.rises.at(-1)?.sum ?? totalOf(KNOWN)) * MAX_GROWTH;
  await send(WARM_UP);
  let costs = await measureCosts(send, read);
  for (let n = 1; n < ATTEMPTS && totalOf(costs) > allowed; n++) costs = await measureCosts(send, read);
  expect(totalOf(costs)).toBeLessThanOrEqual(allowed);
}, 300_000);

it('may cost more only for a benefit', () => {
  for (const { sum, benefit } of KNOWN.rises) {
    expect(sum).toBeGreaterThan(totalOf(KNOWN));
    expect(benefit.length).toBeGreaterThan(20);
  }
});

async function measureCosts(
  send: (count: number) => Promise<void>,
  read: () => Promise<WorkCounts[]>,
): Promise<Costs> {
  const { each, begin, end } = await countEventWork(read, () => send(MESSAGES).then(() => MESSAGES));
  const [api, worker] = each.map(({ promises: _, bytes: __, ...cost }) => cost);
  const costs: Costs = { api: api!, worker: worker! };
  console.info(
    JSON.stringify(costs, (_, value: unknown) => (typeof value === 'number' ? round(value) : value)),
  );
  if (process.env.DETAILS)
    console.info(...['api', 'worker'].map((role, n) => detailsOf(role, begin[n]!, end[n]!)));
  return costs;
}

function detailsOf(role: string, begin: WorkCounts, end: WorkCounts): string {
  const lines = [role];
  for (const [peer, count] of Object.entries(end.writes))
    lines.push(`${round((count - (begin.writes[peer as 'redis'] ?? 0)) / MESSAGES)} writes to ${peer}`);
  for (const [text, count] of Object.entries(end.statements)) {
    const each = (count - (begin.statements[text] ?? 0)) / MESSAGES;
    if (each > 0.02) lines.push(`${round(each)} ${text.slice(0, 150)}`);
  }
  for (const name of ['promises', 'immediates', 'bytes'] as const)
    lines.push(`${round((end[name] - begin[name]) / MESSAGES)} ${name}`);
  return lines.join('\n');
}

const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((all, one) => all + one, 0);

const totalOf = ({ api, worker }: Costs) => sumOf({ ...api }) + sumOf({ ...worker });

const round = (count: number) => Math.round(count * 100) / 100;
