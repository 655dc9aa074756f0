import { sleep } from '../../scripts/processes.mjs';
import { addEvents } from '../support/fill.mjs';
import { must } from '../support/measure.mjs';
import { besideTrouble } from '../support/neighbour.mjs';
import { absoluteRow, latencyRow, ms, seconds } from '../support/report.mjs';

const ANSWER_MS = 200;
/** An attempt that began before the answer is on the wire by then. */
const ON_WIRE_MS = 2_000;
const POLL_MS = 200;
/** A step of the cancellation takes much less. */
const STALLED_MS = 60_000;

/** An endpoint that is owed very much is deleted. Another workspace sends messages meanwhile. */
export const deleteBacklog = {
  name: 'delete-backlog',
  heavy: true,

  /** @param {import('../main.mjs').Bench} bench */
  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { receiver, neighbours } = environment;
    const deployment = await small();
    const [measured] = deployment.fixture.receiving;
    const [owner] = await deployment.addReceiving(1, 'hang');
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
      const actor = { type: 'agent', id: owner.agentId };
      const answer = await host.call('WebhookEndpointsService', 'delete', owner.id, owner.endpoint.id, actor);
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
    const row = latencyRow(`${name}, p95 of another`, [{ beside, alone }], 1.5, 'p95', ['beside', 'alone']);
    return [
      absoluteRow(`${name}, answer`, [result.answerMs], ms, ANSWER_MS),
      { ...row, runs: [{ beside, alone }] },
      absoluteRow(`${name}, all cancelled after`, [result.tookS], seconds),
    ];
  },
};

/** Counts what is pending only when the count of the cancelled stands still: a count of so many rows takes long. */
async function untilCancelled(deployment, { id, endpoint }) {
  let [cancelled, at] = [0, performance.now()];
  for (;;) {
    const [now] = await deployment.query(
      'SELECT coalesce(sum(cancelled), 0)::int AS cancelled FROM pending_cancellations WHERE tenant_id = $1',
      [id],
    );
    if (now.cancelled === cancelled) {
      const [{ owed }] = await deployment.query(
        'SELECT EXISTS (SELECT FROM pending_deliveries WHERE tenant_id = $1 AND endpoint_id = $2) AS owed',
        [id, endpoint.id],
      );
      if (!owed) return;
    } else [cancelled, at] = [now.cancelled, performance.now()];
    must(performance.now() - at < STALLED_MS, `only ${cancelled} deliveries were cancelled`);
    await sleep(POLL_MS);
  }
}

/** Those with an attempt in flight may have ended otherwise. */
async function checkCancelled(deployment, { id, endpoint }, count) {
  const [{ finished, cancelled }] = await deployment.query(
    `SELECT count(DISTINCT id)::int AS finished, count(*) FILTER (WHERE status = 'CANCELLED')::int AS cancelled
     FROM webhook_deliveries WHERE tenant_id = $1 AND endpoint_id = $2`,
    [id, endpoint.id],
  );
  must(finished === count && cancelled === count, `${cancelled} of ${count} deliveries were cancelled`);
}
