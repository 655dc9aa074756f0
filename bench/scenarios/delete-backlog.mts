import { sleep } from '../../scripts/processes.mjs';
import type { Scenario } from '../scenario.mts';
import { addEvents } from '../support/add-events.mts';
import type { Deployment } from '../support/deployment.mts';
import type { Receiving } from '../support/fixture.mts';
import { itemAt } from '../support/items.mts';
import { must } from '../support/measure.mts';
import { besideTrouble } from '../support/neighbour.mts';
import { absoluteRow, latencyRow, ms, seconds } from '../support/report.mts';

const ANSWER_MS = 200;
/**
 * Time in milliseconds after the deletion's answer in which attempts that began before it reach the receiver.
 */
const ON_WIRE_MS = 2_000;
const POLL_MS = 200;
/**
 * Time in milliseconds without progress after which the cancellation counts as stalled. A step takes much
 * less.
 */
const STALLED_MS = 60_000;

/**
 * Measures the deletion of an endpoint with `plan.backlog.deliveries` pending deliveries, and the messages of
 * another workspace in that time.
 */
export const deleteBacklog: Scenario = {
  name: 'delete-backlog',
  heavy: true,

  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { receiver, neighbours } = environment;
    const deployment = await small();
    const measured = itemAt(deployment.fixture.receiving, 0);
    const owner = itemAt(await deployment.addReceiving(1, 'hang'), 0);
    const host = await deployment.startHost();
    await deployment.startService('worker');
    await receiver.expect([measured]);
    const count = plan.backlog.deliveries;
    const prepare = async () => {
      progress(`making ${count} pending deliveries`);
      await addEvents(deployment.pool, owner, count, true);
      progress('deleting their endpoint');
    };
    const trouble = async () => {
      const startedAt = performance.now();
      const answer = await host.run({
        name: 'deleteEndpoint',
        tenantId: owner.id,
        endpointId: owner.endpoint.id,
        agentId: owner.agentId,
      });
      await sleep(ON_WIRE_MS);
      const hung = await neighbours.countHung();
      await untilCancelled(deployment, owner);
      const tookS = (performance.now() - startedAt) / 1000;
      must((await neighbours.countHung()) === hung, 'an attempt began after the answer');
      await checkCancelled(deployment, owner, count);
      return { answerMs: answer.ms, tookS };
    };
    const calm = () => neighbours.release();
    const { alone, beside, result } = await besideTrouble(bench, deployment, {
      measured,
      prepare,
      trouble,
      calm,
    });
    await deployment.clearEvents();
    const name = `deletion of an endpoint that is owed ${count}`;
    return [
      absoluteRow(`${name}, answer`, [result.answerMs], ms, ANSWER_MS),
      latencyRow(`${name}, p95 of another`, [[beside.p95, alone.p95]], 1.5, [{ beside, alone }]),
      absoluteRow(`${name}, all cancelled after`, [result.tookS], seconds),
    ];
  },
};

/**
 * Waits until an endpoint has no pending deliveries. Looks for them only when the count of cancelled ones
 * stands still, because the search through so many rows takes long.
 */
async function untilCancelled(deployment: Deployment, { id, endpoint }: Receiving): Promise<void> {
  let [cancelled, at] = [0, performance.now()];
  for (;;) {
    const now = await deployment.queryOne<{ cancelled: number }>(
      'SELECT coalesce(sum(cancelled), 0)::int AS cancelled FROM pending_cancellations WHERE tenant_id = $1',
      [id],
    );
    if (now.cancelled === cancelled) {
      const { owed } = await deployment.queryOne<{ owed: boolean }>(
        'SELECT EXISTS (SELECT FROM pending_deliveries WHERE tenant_id = $1 AND endpoint_id = $2) AS owed',
        [id, endpoint.id],
      );
      if (!owed) return;
    } else [cancelled, at] = [now.cancelled, performance.now()];
    must(performance.now() - at < STALLED_MS, `only ${cancelled} deliveries were cancelled`);
    await sleep(POLL_MS);
  }
}

/** Checks that each delivery of an endpoint is recorded as cancelled. */
async function checkCancelled(
  deployment: Deployment,
  { id, endpoint }: Receiving,
  count: number,
): Promise<void> {
  const { finished, cancelled } = await deployment.queryOne<{ finished: number; cancelled: number }>(
    `SELECT count(DISTINCT id)::int AS finished, count(*) FILTER (WHERE status = 'CANCELLED')::int AS cancelled
     FROM webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2`,
    [id, endpoint.id],
  );
  must(finished === count && cancelled === count, `${cancelled} of ${count} deliveries were cancelled`);
}
