import { sleep } from '../../scripts/processes.mjs';
import { must } from '../support/measure.mjs';
import { besideTrouble } from '../support/neighbour.mjs';
import { offer } from '../support/offer.mjs';
import { latencyRow } from '../support/report.mjs';

/** Messages of each workspace whose endpoints hang. */
const PER_SECOND = 2;

/** Many endpoints hang, of few workspaces and of more. Another workspace's endpoint answers. */
export const tarpits = {
  name: 'tarpits',
  heavy: true,

  /** @param {import('../main.mjs').Bench} bench */
  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const deployment = await small();
    const [measured] = deployment.fixture.receiving;
    await deployment.startService('worker');
    await environment.receiver.expect([measured]);
    const { workspaces, endpointsEach, seconds } = plan.tarpits;
    const rows = [];
    for (const count of workspaces) {
      const name = `${count * endpointsEach} endpoints of ${count} workspaces hang`;
      progress(name);
      const hanging = await deployment.addReceiving(count, 'hang', endpointsEach);
      const trouble = () => offer(deployment, hanging, { perSecond: PER_SECOND * count, seconds });
      const calm = () => forget(deployment, hanging);
      const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, trouble, calm });
      const row = latencyRow(`${name}, p95 of another`, [{ beside, alone }], 1.5, 'p95', ['beside', 'alone']);
      rows.push({ ...row, runs: [{ beside, alone, messages: result }] });
    }
    return rows;
  },
};

/**
 * Checks that every delivery is somewhere, and forgets all that are not finished.
 * @throws WrongAnswers when a delivery is lost
 */
async function forget(deployment, hanging) {
  const ids = hanging.map(({ id }) => id);
  const [{ lost }] = await deployment.query(
    `SELECT count(*)::int AS lost FROM events e JOIN webhook_endpoints w ON w.tenant_id = e.tenant_id
     WHERE e.tenant_id = ANY ($1) AND e.type = 'message.created'
       AND NOT EXISTS (SELECT FROM event_queue q WHERE q.tenant_id = e.tenant_id AND q.event_id = e.id)
       AND NOT EXISTS (
         SELECT FROM pending_deliveries p
         WHERE p.tenant_id = e.tenant_id AND p.event_id = e.id AND p.endpoint_id = w.id)
       AND NOT EXISTS (
         SELECT FROM webhook_deliveries d
         WHERE d.tenant_id = e.tenant_id AND d.event_id = e.id AND d.endpoint_id = w.id)`,
    [ids],
  );
  must(lost === 0, `${lost} deliveries to endpoints that hang are lost`);
  await deployment.query('UPDATE webhook_endpoints SET active = false WHERE tenant_id = ANY ($1)', [ids]);
  await deployment.query('DELETE FROM event_queue WHERE tenant_id = ANY ($1)', [ids]);
  await deployment.query('DELETE FROM pending_deliveries WHERE tenant_id = ANY ($1)', [ids]);
  await deployment.environment.neighbours.release();
  await sleep(SETTLED_MS);
}

/** The ended attempts are dealt with. */
const SETTLED_MS = 1_000;
