import { deliver } from '../support/deliveries.mjs';
import { inTurn, middle, ratio } from '../support/measure.mjs';
import { perSecond } from '../support/report.mjs';

const AT_LEAST = 0.9;

/** Deliveries in a database with many other endpoints and old deliveries, against an almost empty one. */
export const growingDeliveries = {
  name: 'growing-deliveries',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, small, large, progress }) {
    const deployments = [await small(), await large()];
    for (const deployment of deployments) await deployment.startService('worker');
    const [few, many] = deployments;
    const sides = (count) => ({ few: () => deliver(few, count), many: () => deliver(many, count) });
    const { otherEndpoints, oldDeliveries } = plan.large;
    progress(`beside ${otherEndpoints} endpoints and ${oldDeliveries} old deliveries`);
    await inTurn(1, sides(Math.ceil(plan.deliveries / 4)));
    const runs = await inTurn(plan.rounds, sides(plan.deliveries));
    const share = ratio(runs, 'perSecond', ['many', 'few']);
    return [
      {
        scenario: `deliveries beside ${otherEndpoints} endpoints and ${oldDeliveries} old deliveries`,
        ours: perSecond(middle(runs, 'many', 'perSecond')),
        limit: perSecond(middle(runs, 'few', 'perSecond')),
        ratio: share,
        goal: `≥ ${AT_LEAST}`,
        met: share >= AT_LEAST,
        runs,
      },
    ];
  },
};
