import { deliver, ENDPOINTS, secretsOf } from '../support/deliveries.mjs';
import { inTurn } from '../support/measure.mjs';
import { throughputRow } from '../support/report.mjs';

/** Posts of the loop at a time: about the fastest number. */
const CONCURRENCY = 50;

/** Deliveries of one worker, from outbox to recorded attempt, against a loop that only signs and posts. */
export const deliveries = {
  name: 'deliveries',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    await deployment.startService('worker');
    const loop = await deployment.startLimit('deliver.mjs');
    const options = { concurrency: CONCURRENCY, secrets: secretsOf(deployment) };
    const sides = (count) => ({
      ours: () => deliver(deployment, count),
      limit: async () => {
        await environment.receiver.expect(deployment.fixture);
        const { ms } = await loop.measure({ ...options, count });
        await environment.receiver.take(count);
        return { perSecond: (count / ms) * 1000 };
      },
    });
    progress(`${plan.deliveries} deliveries to ${ENDPOINTS} endpoints`);
    await inTurn(1, sides(Math.ceil(plan.deliveries / 4)));
    const runs = await inTurn(plan.rounds, sides(plan.deliveries));
    return [throughputRow(`deliveries to ${ENDPOINTS} endpoints, one worker`, runs, 0.5)];
  },
};
