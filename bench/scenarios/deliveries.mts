import type { Scenario } from '../scenario.mts';
import { deliver, ENDPOINTS, secretsOf } from '../support/deliveries.mts';
import { historyBytes } from '../support/history.mts';
import { inTurn, middle } from '../support/measure.mts';
import {
  absoluteRow,
  bytes,
  microseconds,
  share,
  throughputRow,
  type Pair,
  type Row,
} from '../support/report.mts';
import { processorMs } from '../support/usage.mts';

/** Requests that the loop has in flight. It is about the fastest with this number. */
const CONCURRENCY = 50;
const GOALS = { postgresUs: 70, workerUs: 80, idle: 0.1, bytes: 1_000 };

/**
 * Measures deliveries of one worker, from outbox to recorded attempt, against a loop that signs and posts the
 * same events and records nothing.
 */
export const deliveries: Scenario = {
  name: 'deliveries',

  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    const worker = await deployment.startService('worker');
    const loop = await deployment.startDeliveryLimit();
    const options = { concurrency: CONCURRENCY, secrets: secretsOf(deployment) };
    const sides = (count: number) => ({
      ours: async () => {
        const before = await historyBytes(deployment);
        const result = await deliver(deployment, worker, count);
        return { ...result, bytes: ((await historyBytes(deployment)) - before) / count };
      },
      limit: async () => {
        await environment.receiver.expect(deployment.fixture.receiving);
        const before = processorMs(loop.pid);
        const { ms } = await loop.run({ ...options, count });
        await environment.receiver.take(count);
        const workerUs = ((processorMs(loop.pid) - before) * 1000) / count;
        return { perSecond: (count / ms) * 1000, workerUs };
      },
    });
    progress(`${plan.deliveries} deliveries to ${ENDPOINTS} endpoints`);
    await inTurn(1, sides(Math.ceil(plan.deliveries / 4)));
    const runs = await inTurn(plan.rounds, sides(plan.deliveries));
    const pairs = runs.map(({ ours, limit }): Pair => [ours.perSecond, limit.perSecond]);
    const ours = runs.map((run) => run.ours);
    const workerUs = ours.map((run) => run.workerUs);
    const idle = ours.map((run) => run.idle);
    const disk = ours.map((run) => run.bytes);
    return [
      throughputRow(`deliveries to ${ENDPOINTS} endpoints, one worker`, pairs, 0.5, runs),
      ...postgresRows(ours.flatMap(({ postgresUs }) => postgresUs ?? [])),
      {
        ...absoluteRow('processor time a delivery, worker', workerUs, microseconds, GOALS.workerUs),
        limit: microseconds(middle(runs, ({ limit }) => limit.workerUs)),
      },
      absoluteRow('idle time of the busiest core', idle, share, GOALS.idle),
      absoluteRow('disk a delivery, with its event', disk, bytes, GOALS.bytes),
    ];
  },
};

/**
 * Returns the row of PostgreSQL's processor time; none if PostgreSQL runs on another machine, where it can't
 * be read.
 */
function postgresRows(times: number[]): Row[] {
  if (times.length === 0) return [];
  return [absoluteRow('processor time a delivery, PostgreSQL', times, microseconds, GOALS.postgresUs)];
}
