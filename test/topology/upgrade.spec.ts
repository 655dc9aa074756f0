import { rmSync } from 'node:fs';
import { groupBy } from '../../src/common/group-by';
import { contradictions } from '../support/integrity';
import { markdownTable, print } from '../support/report';
import { FleetRole } from './fleet';
import { RECEIVERS, UpgradeRun } from './upgrade-run';
import { Version } from './version';

const ORDERS: FleetRole[][] = [
  ['api', 'worker'],
  ['worker', 'api'],
];
const BUILD_MS = 300_000;
const RUN_MS = 600_000;
/** Of many faults of one kind. */
const SHOWN = 20;

/**
 * Replaces two API processes and two workers of the version before by those of the present one, under load. It needs git's
 * history: `UPGRADE_FROM=<commit>` selects another version before.
 */
describe('A rolling upgrade', () => {
  let before: Version;

  beforeAll(async () => {
    before = await Version.before();
  }, BUILD_MS);
  afterAll(() => before.remove());

  describe.each(ORDERS)('%s processes first, then %s processes', (...order) => {
    let run: UpgradeRun;
    let isDone = false;

    beforeAll(async () => {
      run = await UpgradeRun.start(before);
      try {
        await run.upgradeTo(Version.present, order);
        await run.settle();
        isDone = true;
      } finally {
        await run.stopProcesses();
        print(reportOf(run, before, order));
      }
    }, RUN_MS);

    afterAll(async () => {
      await run.stop();
      if (isDone) rmSync(run.logFolder, { recursive: true });
      else print(`The processes' logs are in ${run.logFolder}`);
    });

    it('was under load, and had something to migrate unless a version without was named', () => {
      for (const { name, messages } of run.steps)
        expect({ name, messages }).not.toEqual({ name, messages: 0 });
      if (!process.env.UPGRADE_FROM) expect(run.migrations).not.toEqual([]);
    });

    it('failed no request that a client did not mend by sending it once more', () => {
      const { agents, caller } = run.clients;
      const messages = agents.retries.map(({ message }) => message);
      const twice = agents.retries.filter(({ message }, index) => messages.indexOf(message) !== index);
      expect(twice).toEqual([]);
      expect(agents.unexpected).toEqual([]);
      expect(caller.failures).toEqual([]);
    });

    it('stored each message once', async () => {
      const rows = await run.database.query<{ id: string; body: string }>('SELECT id, body FROM messages');
      const ids = new Set(rows.map(({ id }) => id));
      expect([...run.clients.ledger.promised.keys()].filter((id) => !ids.has(id))).toEqual([]);
      const bodies = rows.map(({ body }) => body);
      const { written, agents } = run.clients;
      expect(new Set(bodies).size).toBe(written.length + agents.begun);
      expect(bodies).toHaveLength(written.length + agents.begun);
      expect(written.filter((text) => !bodies.includes(text))).toEqual([]);
    });

    it('delivered every message to each receiver, and nothing twice', async () => {
      const { ledger } = run.clients;
      const rows = await run.database.query<{ id: string }>('SELECT id FROM messages');
      const missing = rows.flatMap(({ id }) => RECEIVERS.filter((name) => !ledger.hasReached(name, id)));
      expect(missing.slice(0, SHOWN)).toEqual([]);
      expect(ledger.duplicates).toBe(0);
    });

    it('sent each reply once', async () => {
      const replies = await run.database.query<{ channel: string; body: string; status: string }>(
        `SELECT c.source_channel AS channel, m.body, m.delivery_status AS status FROM messages m
         JOIN conversations c ON c.tenant_id = m.tenant_id AND c.id = m.conversation_id
         WHERE m.sender_type = 'AGENT'`,
      );
      expect(replies.filter(({ status }) => status !== 'SENT')).toEqual([]);
      const expected = replies.filter(({ channel }) => channel === 'TELEGRAM').map(({ body }) => body);
      expect(run.telegram.sent.map(({ text }) => text).sort()).toEqual(expected.sort());
    });

    it("brought every message of the conversation to the visitor's page", async () => {
      expect([...run.clients.seenOnPage].sort()).toEqual((await run.idsOf('WIDGET')).sort());
    });

    it('ended each process in good order', () => {
      expect(run.fleet.ends.filter(({ how }) => how !== 0)).toEqual([]);
      expect(run.fleet.ends).toHaveLength(8);
    });

    it('left no rows that contradict each other', async () => {
      expect(await contradictions((sql) => run.database.query(sql))).toEqual([]);
    });
  });
});

function reportOf(
  { steps, settledMs, clients, fleet, migrations, telegram, balancer }: UpgradeRun,
  before: Version,
  order: FleetRole[],
) {
  const rows = steps.map(({ name, ms, messages, retries }) => [
    name,
    `${(ms / 1000).toFixed(1)} s`,
    String(messages),
    String(retries.length),
  ]);
  const reasons = groupBy(clients.retries, ({ reason }) => reason.replace(/ \d+/g, ''));
  return [
    '',
    `From ${before.name}, ${order.join('s, then ')}s; ${migrations.length} migrations`,
    '',
    markdownTable(['Step', 'Took', 'Messages', 'Sent again'], rows),
    '',
    `${clients.agents.begun} messages of agents, ${clients.written.length} of customers, ${telegram.sent.length} replies ` +
      `sent, ${clients.ledger.accepted.length} webhooks accepted, ${clients.ledger.duplicates} of them twice`,
    `All done ${settledMs} ms after the load`,
    `Other requests answered: ${clients.caller.answered}; connections lost at the balancer: ${balancer.lost}`,
    `SIGTERM to the end: ${fleet.ends.map(({ role, ms }) => `${role} ${ms} ms`).join(', ')}`,
    `Streams ended: ${clients.streamEnds.join(', ')}`,
    ...[...reasons].map(([reason, retries]) => `Sent again: ${retries.length} × ${reason}`),
    '',
  ].join('\n');
}
