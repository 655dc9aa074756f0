import { deliver, ENDPOINTS } from '../support/deliveries.mjs';
import { inTurn, middle, ratio } from '../support/measure.mjs';
import { perSecond } from '../support/report.mjs';

const AT_LEAST = 0.8;

/** Deliveries to many workspaces with an event each, against as many to few workspaces in the same database. */
export const manyWorkspaces = {
  name: 'many-workspaces',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, environment, progress }) {
    const deployment = await environment.deployment('many', plan.many);
    const all = deployment.fixture.receiving.slice(0, plan.many.receiving);
    const worker = await deployment.startService('worker');
    const sides = {
      few: () => deliver(deployment, all.length, worker),
      many: () => deliver(deployment, all.length, worker, all),
    };
    progress(`${all.length} deliveries to as many workspaces`);
    await inTurn(1, sides);
    const runs = await inTurn(plan.rounds, sides);
    const share = ratio(runs, 'perSecond', ['many', 'few']);
    return [
      {
        scenario: `deliveries to ${all.length} workspaces, an event each, against ${ENDPOINTS} workspaces`,
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
