import { sleep } from '../../scripts/processes.mjs';
import type { Scenario } from '../scenario.mts';
import type { Deployment } from '../support/deployment.mts';
import type { Receiving } from '../support/fixture.mts';
import { itemAt } from '../support/items.mts';
import { must } from '../support/measure.mts';
import { besideTrouble } from '../support/neighbour.mts';
import { offer } from '../support/offer.mts';
import { latencyRow, type Row } from '../support/report.mts';

/** Messages a second of each workspace whose endpoints hang. */
const PER_SECOND = 2;

/**
 * Measures the latency of a workspace whose endpoint answers, first while 100 endpoints of 2 other workspaces
 * hang, then while 500 of 10 do.
 */
export const tarpits: Scenario = {
  name: 'tarpits',
  heavy: true,

  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const deployment = await small();
    const measured = itemAt(deployment.fixture.receiving, 0);
    await deployment.startService('worker');
    await environment.receiver.expect([measured]);
    const { workspaces, endpointsEach, seconds } = plan.tarpits;
    const rows: Row[] = [];
    for (const count of workspaces) {
      const name = `${count * endpointsEach} endpoints of ${count} workspaces hang`;
      progress(name);
      const hanging = await deployment.addReceiving(count, 'hang', endpointsEach);
      const trouble = () => offer(deployment, hanging, { perSecond: PER_SECOND * count, seconds });
      const calm = () => forget(deployment, hanging);
      const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, trouble, calm });
      const runs = [{ beside, alone, messages: result }];
      rows.push(latencyRow(`${name}, p95 of another`, [[beside.p95, alone.p95]], 1.5, runs));
    }
    return rows;
  },
};

/**
 * Checks that no delivery to the hanging endpoints is lost: each is queued, pending or recorded. Then deletes
 * those that are not finished.
 *
 * @throws WrongAnswers when a delivery is lost
 */
async function forget(deployment: Deployment, hanging: Receiving[]): Promise<void> {
  const ids = hanging.map(({ id }) => id);
  const { lost } = await deployment.queryOne<{ lost: number }>(
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

/** Time in milliseconds within which the service records the attempts whose requests were closed. */
const SETTLED_MS = 1_000;
