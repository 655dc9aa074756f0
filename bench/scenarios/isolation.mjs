import { RECEIVING } from '../support/fixture.mjs';
import { inTurn } from '../support/measure.mjs';
import { offer } from '../support/offer.mjs';
import { latencyRow } from '../support/report.mjs';
import { percentiles } from '../support/statistics.mjs';

/**
 * What one hanging endpoint costs the others: a hundred workspaces with an endpoint each get messages at a steady rate,
 * with all endpoints answering, and with one of them hanging for the whole 10 seconds of every attempt.
 */
export const isolation = {
  name: 'isolation',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, stage, small, progress }) {
    const place = await small();
    const healthy = place.fixture.receiving.slice(0, RECEIVING);
    const hanging = place.fixture.receiving[RECEIVING];
    const oneHangs = [hanging, ...healthy.slice(1)];
    await place.startService('worker');
    await stage.receiver.expect(place.fixture);
    const measure = async (workspaces, seconds) => {
      const { perSecond } = plan.isolation;
      const sent = await offer(place, workspaces, { perSecond, seconds });
      const hung = workspaces.includes(hanging) ? Math.ceil(sent / workspaces.length) : 0;
      const { times } = await stage.receiver.take(sent - hung);
      const [p50, p95, p99] = percentiles(
        times.map(([madeAt, arrivedAt]) => arrivedAt - madeAt),
        [50, 95, 99],
      );
      return { p50, p95, p99 };
    };
    const sides = {
      without: () => measure(healthy, plan.isolation.seconds),
      with: async () => {
        const result = await measure(oneHangs, plan.isolation.seconds);
        await letGo(place, hanging);
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

/** Ends what hangs, and what would come again: the next round is to begin as the first did. */
async function letGo(place, { endpoint }) {
  await place.query(
    `UPDATE webhook_deliveries SET status = 'CANCELLED', finished_at = now(), lease_id = NULL, lease_until = NULL
     WHERE endpoint_id = $1 AND status = 'PENDING'`,
    [endpoint.id],
  );
  await place.stage.receiver.release();
}
