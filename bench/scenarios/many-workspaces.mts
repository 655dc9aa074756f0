import type { Scenario } from '../scenario.mts';
import { deliver, ENDPOINTS } from '../support/deliveries.mts';
import { inTurn } from '../support/measure.mts';
import { throughputRow, type Pair } from '../support/report.mts';

const AT_LEAST = 0.8;

/**
 * Measures deliveries to `plan.many.receiving` workspaces with one event each, against as many deliveries to
 * twenty workspaces of the same database.
 */
export const manyWorkspaces: Scenario = {
  name: 'many-workspaces',

  async run({ plan, environment, progress }) {
    const deployment = await environment.deployment('many', plan.many);
    const all = deployment.fixture.receiving.slice(0, plan.many.receiving);
    const worker = await deployment.startService('worker');
    const sides = {
      few: () => deliver(deployment, worker, all.length),
      many: () => deliver(deployment, worker, all.length, all),
    };
    progress(`${all.length} deliveries to as many workspaces`);
    await inTurn(1, sides);
    const runs = await inTurn(plan.rounds, sides);
    const name = `deliveries to ${all.length} workspaces, an event each, against ${ENDPOINTS} workspaces`;
    const pairs = runs.map(({ many, few }): Pair => [many.perSecond, few.perSecond]);
    return [throughputRow(name, pairs, AT_LEAST, runs)];
  },
};
