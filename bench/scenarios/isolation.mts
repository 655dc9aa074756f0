import type { Scenario } from '../scenario.mts';
import type { Deployment } from '../support/deployment.mts';
import { RECEIVING, type Receiving } from '../support/fixture.mts';
import { itemAt } from '../support/items.mts';
import { inTurn } from '../support/measure.mts';
import { offer } from '../support/offer.mts';
import { latencyRow, type Pair } from '../support/report.mts';
import { latencyOf } from '../support/statistics.mts';

/**
 * Measures the cost of one hanging endpoint to the others. A hundred workspaces with an endpoint each get
 * messages at a steady rate: first all endpoints answer, then one of them hangs until the 10 seconds of each
 * attempt are over.
 */
export const isolation: Scenario = {
  name: 'isolation',

  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    const healthy = deployment.fixture.receiving.slice(0, RECEIVING);
    const hanging = itemAt(deployment.fixture.receiving, RECEIVING);
    const oneHangs = [hanging, ...healthy.slice(1)];
    await deployment.startService('worker');
    await environment.receiver.expect(deployment.fixture.receiving);
    const measure = async (workspaces: Receiving[], seconds: number) => {
      const { perSecond } = plan.isolation;
      const sent = await offer(deployment, workspaces, { perSecond, seconds });
      const hung = workspaces.includes(hanging) ? Math.ceil(sent / workspaces.length) : 0;
      return latencyOf(await environment.receiver.take(sent - hung));
    };
    const sides = {
      without: () => measure(healthy, plan.isolation.seconds),
      with: async () => {
        const result = await measure(oneHangs, plan.isolation.seconds);
        await cancelHanging(deployment, hanging);
        return result;
      },
    };
    progress(`${plan.isolation.perSecond} messages a second to ${RECEIVING} endpoints`);
    await measure(healthy, plan.warmUpSeconds);
    const runs = await inTurn(plan.isolation.rounds, sides);
    const pairs = runs.map((run): Pair => [run.with.p95, run.without.p95]);
    return [latencyRow(`1 of ${RECEIVING} endpoints hangs, p95 of the others`, pairs, 1.2, runs)];
  },
};

/**
 * Deletes the pending deliveries of the hanging endpoint and closes its requests, so that the next round
 * starts like the first.
 */
async function cancelHanging(deployment: Deployment, { id, endpoint }: Receiving): Promise<void> {
  await deployment.query('DELETE FROM event_queue WHERE tenant_id = $1', [id]);
  await deployment.query('DELETE FROM pending_deliveries WHERE tenant_id = $1 AND endpoint_id = $2', [
    id,
    endpoint.id,
  ]);
  await deployment.environment.neighbours.release();
}
