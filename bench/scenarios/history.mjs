import { sleep } from '../../scripts/processes.mjs';
import { deliver } from '../support/deliveries.mjs';
import { HISTORY } from '../support/history.mjs';
import { inTurn, middle, must, ratio } from '../support/measure.mjs';
import { besideTrouble } from '../support/neighbour.mjs';
import { absoluteRow, latencyRow, ms, perSecond, seconds } from '../support/report.mjs';

const AT_LEAST = 0.95;
const LOCKED_MS = 1_000;
/** The history is of twenty days: one day of it expires. */
const KEPT_DAYS = 19;
const SAMPLE_MS = 10;

/** Deliveries beside very many old ones, against an almost empty database; then the oldest day of these expires. */
export const history = {
  name: 'history',
  heavy: true,

  /** @param {import('../main.mjs').Bench} bench */
  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { otherEndpoints, oldDeliveries } = plan.history;
    const few = await small();
    const many = await environment.deployment('history', plan.history);
    const [fewWorker, manyWorker] = [await few.startService('worker'), await many.startService('worker')];
    const sides = (count) => ({
      few: () => deliver(few, count, fewWorker),
      many: () => deliver(many, count, manyWorker),
    });
    const name = `${oldDeliveries} old deliveries`;
    progress(`deliveries beside ${name}`);
    await inTurn(1, sides(Math.ceil(plan.deliveries / 4)));
    const runs = await inTurn(plan.rounds, sides(plan.deliveries));
    const share = ratio(runs, 'perSecond', ['many', 'few']);
    await environment.stopProcesses();
    progress('retention');
    return [
      {
        scenario: `deliveries beside ${otherEndpoints} endpoints and ${name}`,
        ours: perSecond(middle(runs, 'many', 'perSecond')),
        limit: perSecond(middle(runs, 'few', 'perSecond')),
        ratio: share,
        goal: `≥ ${AT_LEAST}`,
        met: share >= AT_LEAST,
        runs,
      },
      ...(await retention(bench, many, name)),
    ];
  },
};

async function retention(bench, deployment, name) {
  const [measured] = deployment.fixture.receiving;
  await deployment.startService('worker');
  const keeper = await deployment.startRetention();
  await bench.environment.receiver.expect([measured]);
  const [oldest] = await partitionsOf(deployment, 'webhook_deliveries');
  const trouble = async () => {
    const stopSampling = await sampleLocks(deployment);
    const { ms: tookMs } = await keeper.run(KEPT_DAYS);
    return { tookS: tookMs / 1000, lockedMs: await stopSampling() };
  };
  const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, trouble });
  const left = await partitionsOf(deployment, 'webhook_deliveries');
  must(!left.some(({ name }) => name === oldest.name), `${oldest.name} is still there`);
  const row = latencyRow(`retention of ${name}, p95 of another`, [{ beside, alone }], 1.2, 'p95', [
    'beside',
    'alone',
  ]);
  return [
    absoluteRow(`retention of ${name}, a day of them`, [result.tookS], seconds),
    absoluteRow(`retention of ${name}, longest lock`, [result.lockedMs], ms, LOCKED_MS),
    { ...row, runs: [{ beside, alone, ...result }] },
  ];
}

/** A table and its partitions: the one of the oldest day first, the table itself last. */
function partitionsOf(deployment, table) {
  return deployment.query(
    `SELECT relid::oid AS relation, relid::text AS name FROM pg_partition_tree($1::regclass)
     ORDER BY isleaf DESC, relid::text`,
    [table],
  );
}

/**
 * Looks for locks of the history that stop everybody else, held or asked for.
 * @returns ends it: how long the longest one was seen
 */
async function sampleLocks(deployment) {
  const tables = await Promise.all(HISTORY.map((table) => partitionsOf(deployment, table)));
  const relations = tables.flat().map(({ relation }) => relation);
  /** When each lock was first seen. @type {Map<string, number>} */
  let seen = new Map();
  let [longest, isStopped] = [0, false];
  const sampling = (async () => {
    while (!isStopped) {
      const locks = await deployment.query(
        `SELECT DISTINCT pid || ' ' || relation AS lock FROM pg_locks
         WHERE mode = 'AccessExclusiveLock' AND relation = ANY ($1)`,
        [relations],
      );
      const now = performance.now();
      seen = new Map(locks.map(({ lock }) => [lock, seen.get(lock) ?? now]));
      for (const since of seen.values()) longest = Math.max(longest, now - since);
      await sleep(SAMPLE_MS);
    }
  })();
  return async () => {
    isStopped = true;
    await sampling;
    return longest;
  };
}
