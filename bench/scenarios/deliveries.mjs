import { deliver, ENDPOINTS, secretsOf } from '../support/deliveries.mjs';
import { historyBytes } from '../support/history.mjs';
import { inTurn, middle } from '../support/measure.mjs';
import { absoluteRow, bytes, microseconds, share, throughputRow } from '../support/report.mjs';
import { processorMs } from '../support/usage.mjs';

/** Posts of the loop at a time: about the fastest number. */
const CONCURRENCY = 50;
const GOALS = { postgresUs: 70, workerUs: 80, idle: 0.1, bytes: 1_000 };

/** Deliveries of one worker, from outbox to recorded attempt, against a loop that only signs and posts. */
export const deliveries = {
  name: 'deliveries',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    const worker = await deployment.startService('worker');
    const loop = await deployment.startLimit('deliver.mjs');
    const options = { concurrency: CONCURRENCY, secrets: secretsOf(deployment) };
    const sides = (count) => ({
      ours: async () => {
        const before = await historyBytes(deployment);
        const result = await deliver(deployment, count, worker);
        return { ...result, bytes: ((await historyBytes(deployment)) - before) / count };
      },
      limit: async () => {
        await environment.receiver.expect(deployment.fixture.receiving);
        const before = processorMs(loop.pid);
        const { ms } = await loop.measure({ ...options, count });
        await environment.receiver.take(count);
        const workerUs = ((processorMs(loop.pid) - before) * 1000) / count;
        return { perSecond: (count / ms) * 1000, workerUs };
      },
    });
    progress(`${plan.deliveries} deliveries to ${ENDPOINTS} endpoints`);
    await inTurn(1, sides(Math.ceil(plan.deliveries / 4)));
    const runs = await inTurn(plan.rounds, sides(plan.deliveries));
    const ours = (figure) => runs.map((run) => run.ours[figure]);
    return [
      throughputRow(`deliveries to ${ENDPOINTS} endpoints, one worker`, runs, 0.5),
      ...postgresRows(ours('postgresUs')),
      {
        ...absoluteRow('processor time a delivery, worker', ours('workerUs'), microseconds, GOALS.workerUs),
        limit: microseconds(middle(runs, 'limit', 'workerUs')),
      },
      absoluteRow('idle time of the busiest core', ours('idle'), share, GOALS.idle),
      absoluteRow('disk a delivery, with its event', ours('bytes'), bytes, GOALS.bytes),
    ];
  },
};

/** None if PostgreSQL runs on another machine. */
function postgresRows(times) {
  if (times.includes(undefined)) return [];
  return [absoluteRow('processor time a delivery, PostgreSQL', times, microseconds, GOALS.postgresUs)];
}
