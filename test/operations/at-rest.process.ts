import { CountedProcess } from '../support/counted-process';
import { MessagingHost } from '../support/messaging-host';
import { Receiver } from '../support/receiver';
import { letTimePass } from '../support/wait';
import { subscribe } from '../support/webhook-workspace';
import type { WorkCounts } from '../support/work-counts.mjs';

/** Time in which the first polls learn which statements find no row, and the pool opens its connections. */
const SETTLE_MS = 8_000;
const SECONDS = 20;

/** Statements that only open, close and set up transactions. */
const AROUND = /^(BEGIN|COMMIT|SELECT set_config)/;

/** Largest work of a process in a second. */
const LIMITS = {
  // Its clock is compared with the database's, and its connections to Redis are tested.
  api: { statements: 0.5, toPostgres: 0.5, toRedis: 1.5, timers: 3 },
  // All polls share one statement; the missed messages of the search are looked for every five seconds.
  worker: { statements: 2, toPostgres: 2.5, toRedis: 5.5, timers: 12 },
};

it.each(['api', 'worker'] as const)('leaves the stores alone at rest: %s', async (role) => {
  const host = await MessagingHost.create();
  const receiver = await Receiver.start();
  for (let n = 0; n < 3; n++) {
    const { workspace } = await subscribe(host, receiver, { events: ['message.created'] });
    await host.make.conversation(workspace);
  }
  const counted = await CountedProcess.start(role, host.stores);
  await letTimePass(SETTLE_MS);
  const before = await counted.read();
  await letTimePass(SECONDS * 1_000);
  const after = await counted.read();
  const each = (figure: (counts: WorkCounts) => number) => (figure(after) - figure(before)) / SECONDS;
  const work = {
    statements: each(statementsOf),
    toPostgres: each(({ writes }) => writes.postgres),
    toRedis: each(({ writes }) => writes.redis),
    timers: each(({ timers }) => timers),
  };
  console.info(role, JSON.stringify(work));
  const excess = Object.entries(LIMITS[role]).filter(
    ([name, limit]) => work[name as keyof typeof work] > limit,
  );
  expect(excess).toEqual([]);
});

function statementsOf({ statements }: WorkCounts): number {
  const own = Object.entries(statements).filter(([text]) => !AROUND.test(text));
  return own.reduce((sum, [, count]) => sum + count, 0);
}
