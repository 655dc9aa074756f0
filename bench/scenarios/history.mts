import { sleep } from '../../scripts/processes.mjs';
import type { Bench, Scenario } from '../scenario.mts';
import { deliver } from '../support/deliveries.mts';
import type { Deployment } from '../support/deployment.mts';
import { HISTORY } from '../support/history.mts';
import { itemAt } from '../support/items.mts';
import { inTurn, must } from '../support/measure.mts';
import { besideTrouble } from '../support/neighbour.mts';
import {
  absoluteRow,
  latencyRow,
  ms,
  seconds,
  throughputRow,
  type Pair,
  type Row,
} from '../support/report.mts';

const AT_LEAST = 0.95;
const LOCKED_MS = 1_000;
/** Days of history that the retention keeps. The database holds twenty, so one day of deliveries expires. */
const KEPT_DAYS = 19;
const SAMPLE_MS = 10;

/**
 * Measures deliveries in a database with `plan.history.oldDeliveries` old ones against an almost empty
 * database. Then measures the retention that drops the oldest day of them, and the messages in that time.
 */
export const history: Scenario = {
  name: 'history',
  heavy: true,

  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { otherEndpoints, oldDeliveries } = plan.history;
    const few = await small();
    const many = await environment.deployment('history', plan.history);
    const [fewWorker, manyWorker] = [await few.startService('worker'), await many.startService('worker')];
    const sides = (count: number) => ({
      few: () => deliver(few, fewWorker, count),
      many: () => deliver(many, manyWorker, count),
    });
    const name = `${oldDeliveries} old deliveries`;
    progress(`deliveries beside ${name}`);
    await inTurn(1, sides(Math.ceil(plan.deliveries / 4)));
    const runs = await inTurn(plan.rounds, sides(plan.deliveries));
    const pairs = runs.map((run): Pair => [run.many.perSecond, run.few.perSecond]);
    await environment.stopProcesses();
    progress('retention');
    return [
      throughputRow(`deliveries beside ${otherEndpoints} endpoints and ${name}`, pairs, AT_LEAST, runs),
      ...(await retention(bench, many, name)),
    ];
  },
};

async function retention(bench: Bench, deployment: Deployment, name: string): Promise<Row[]> {
  const measured = itemAt(deployment.fixture.receiving, 0);
  await deployment.startService('worker');
  const keeper = await deployment.startRetention();
  await bench.environment.receiver.expect([measured]);
  const oldest = itemAt(await partitionsOf(deployment, 'webhook_deliveries'), 0);
  const trouble = async () => {
    const stopSampling = await sampleLocks(deployment);
    const { ms: tookMs } = await keeper.run({ retentionDays: KEPT_DAYS });
    return { tookS: tookMs / 1000, lockedMs: await stopSampling() };
  };
  const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, trouble });
  const left = await partitionsOf(deployment, 'webhook_deliveries');
  must(!left.some(({ name }) => name === oldest.name), `${oldest.name} is still there`);
  const runs = [{ beside, alone, ...result }];
  return [
    absoluteRow(`retention of ${name}, a day of them`, [result.tookS], seconds),
    absoluteRow(`retention of ${name}, longest lock`, [result.lockedMs], ms, LOCKED_MS),
    latencyRow(`retention of ${name}, p95 of another`, [[beside.p95, alone.p95]], 1.2, runs),
  ];
}

interface Partition {
  relation: number;
  name: string;
}

/** Returns a table's partitions, the oldest day first, and the table itself last. */
function partitionsOf(deployment: Deployment, table: string): Promise<Partition[]> {
  return deployment.query(
    `SELECT relid::oid AS relation, relid::text AS name FROM pg_partition_tree($1::regclass)
     ORDER BY isleaf DESC, relid::text`,
    [table],
  );
}

/**
 * Samples the exclusive locks on the tables of the history, granted or waited for: they block every other
 * statement. The returned function stops the sampling and returns how many milliseconds the longest lock was
 * seen.
 */
async function sampleLocks(deployment: Deployment): Promise<() => Promise<number>> {
  const tables = await Promise.all(HISTORY.map((table) => partitionsOf(deployment, table)));
  const relations = tables.flat().map(({ relation }) => relation);
  /** Time at which each lock was first seen, by process id and table. */
  let seen = new Map<string, number>();
  let [longest, isStopped] = [0, false];
  const sampling = (async () => {
    while (!isStopped) {
      const locks = await deployment.query<{ lock: string }>(
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
