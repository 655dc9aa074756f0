import { deliver, ENDPOINTS, secretsOf } from '../support/deliveries.mjs';
import { inTurn } from '../support/measure.mjs';
import { throughputRow } from '../support/report.mjs';

/** How many the loop posts at a time: where it is about at its fastest. */
const CONCURRENCY = 50;

/** Deliveries of one worker, from the outbox to the recorded attempt, against a loop that only signs and posts. */
export const deliveries = {
  name: 'deliveries',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, stage, small, progress }) {
    const place = await small();
    await place.startService('worker');
    const loop = await place.startLimit('deliver.mjs');
    const question = { concurrency: CONCURRENCY, secrets: secretsOf(place) };
    const sides = (count) => ({
      ours: () => deliver(place, count),
      limit: async () => {
        await stage.receiver.expect(place.fixture);
        const { ms } = await loop.ask({ ...question, count });
        await stage.receiver.take(count);
        return { perSecond: (count / ms) * 1000 };
      },
    });
    progress(`${plan.deliveries} deliveries to ${ENDPOINTS} endpoints`);
    await inTurn(1, sides(Math.ceil(plan.deliveries / 4)));
    const runs = await inTurn(plan.rounds, sides(plan.deliveries));
    return [throughputRow(`deliveries to ${ENDPOINTS} endpoints, one worker`, runs, 0.5)];
  },
};
