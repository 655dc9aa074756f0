import { rmSync } from 'node:fs';
import { contradictions } from '../support/integrity';
import { print } from '../support/report';
import { reportOf } from './upgrade-report';
import { RECEIVERS, UpgradePlan, UpgradeRun } from './upgrade-run';
import { Version } from './version';

/** Variables for a shutdown delay of several checks of the balancer. */
const LONG_DELAY = { SHUTDOWN_DELAY_MS: '5000' };
const CASES: Case[] = [
  { from: 'before', order: ['api', 'worker'] },
  { from: 'before', order: ['worker', 'api'] },
  { from: 'present', order: ['api', 'worker'], balancing: { noticesRefusals: false }, env: LONG_DELAY },
];
const BUILD_MS = 300_000;
const RUN_MS = 600_000;
/** Number of entries that are shown of a kind that has many. */
const SHOWN = 20;

interface Case extends Omit<UpgradePlan, 'before'> {
  from: 'before' | 'present';
}

/**
 * Replaces two API processes and two workers of the version before by those of the present one, under load.
 * It needs git's history: `UPGRADE_FROM=<commit>` selects another version before.
 */
describe('A rolling upgrade', () => {
  let before: Version;

  beforeAll(async () => {
    before = await Version.before();
  }, BUILD_MS);
  afterAll(() => before.remove());

  describe.each(CASES)('from the version $from, in the order $order', ({ from, ...plan }) => {
    let run: UpgradeRun;
    let isDone = false;

    beforeAll(async () => {
      const version = from === 'present' ? Version.present : before;
      run = await UpgradeRun.start({ ...plan, before: version });
      try {
        await run.upgradeTo(Version.present, plan.order);
        await run.settle();
        isDone = true;
      } finally {
        await run.stopProcesses();
        print(reportOf(run, version, plan.order));
      }
    }, RUN_MS);

    afterAll(async () => {
      await run?.stop();
      if (isDone) rmSync(run.logFolder, { recursive: true });
      else if (run) print(`The processes' logs are in ${run.logFolder}`);
    });

    it('was under load, and applied the migrations that the version before lacks', () => {
      for (const { name, messages } of run.steps)
        expect({ name, messages }).not.toEqual({ name, messages: 0 });
      expect(run.migrations).toHaveLength(from === 'before' ? before.missingMigrations : 0);
    });

    it('failed no request that a client did not mend by sending it once more', () => {
      const { agents, caller } = run.clients;
      const messages = agents.retries.map(({ message }) => message);
      const twice = agents.retries.filter(({ message }, index) => messages.indexOf(message) !== index);
      expect(twice).toEqual([]);
      expect(agents.unexpected).toEqual([]);
      expect(caller.failures).toEqual([]);
      // The version before may end without a delay, before the balancer's next check.
      expect(run.balancer.lost).toBeLessThanOrEqual(from === 'present' ? 0 : Infinity);
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
