import { RECEIVING } from '../support/fixture.mjs';
import { inTurn } from '../support/measure.mjs';
import { offer } from '../support/offer.mjs';
import { latencyRow } from '../support/report.mjs';
import { latencyOf } from '../support/statistics.mjs';

/**
 * The cost of one hanging endpoint for the others. A hundred workspaces, each with an endpoint, get messages at a steady
 * rate. First all endpoints answer; then one hangs for the 10 seconds of every attempt.
 */
export const isolation = {
  name: 'isolation',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    const healthy = deployment.fixture.receiving.slice(0, RECEIVING);
    const hanging = deployment.fixture.receiving[RECEIVING];
    const oneHangs = [hanging, ...healthy.slice(1)];
    await deployment.startService('worker');
    await environment.receiver.expect(deployment.fixture.receiving);
    const measure = async (workspaces, seconds) => {
      const { perSecond } = plan.isolation;
      const sent = await offer(deployment, workspaces, { perSecond, seconds });
      const hung = workspaces.includes(hanging) ? Math.ceil(sent / workspaces.length) : 0;
      const { times } = await environment.receiver.take(sent - hung);
      return latencyOf(times);
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
    const row = latencyRow(`1 of ${RECEIVING} endpoints hangs, p95 of the others`, runs, 1.2, 'p95', [
      'with',
      'without',
    ]);
    return [{ ...row, runs }];
  },
};

/** Forgets hanging and pending deliveries, so that the next round starts like the first. */
async function cancelHanging(deployment, { id, endpoint }) {
  await deployment.query('DELETE FROM event_queue WHERE tenant_id = $1', [id]);
  await deployment.query('DELETE FROM pending_deliveries WHERE tenant_id = $1 AND endpoint_id = $2', [
    id,
    endpoint.id,
  ]);
  await deployment.environment.neighbours.release();
}
