import { sleep } from '../../scripts/processes.mjs';
import { addEvents } from '../support/fill.mjs';
import { must } from '../support/measure.mjs';
import { besideTrouble } from '../support/neighbour.mjs';
import { absoluteRow, latencyRow, perSecond, seconds } from '../support/report.mjs';

const DAY_MS = 24 * 60 * 60 * 1000;
const POLL_MS = 500;

/** An endpoint gets very many old events again, and live ones meanwhile. */
export const recover = {
  name: 'recover',
  heavy: true,

  /** @param {import('../main.mjs').Bench} bench */
  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { receiver } = environment;
    const { events } = plan.recover;
    const deployment = await small();
    const [measured] = await deployment.addReceiving(1, 'live');
    const host = await deployment.startHost();
    await deployment.startService('worker');
    await receiver.expect([measured]);
    const prepare = async () => {
      progress(`making ${events} events`);
      await addEvents(deployment.pool, measured, events, false);
      progress('recovering them');
    };
    const trouble = async () => {
      const input = { since: new Date(Date.now() - DAY_MS).toISOString() };
      const actor = { type: 'agent', id: measured.agentId };
      const answer = await host.call(
        'WebhookRecoveriesService',
        'start',
        measured.id,
        measured.endpoint.id,
        input,
        actor,
      );
      must(answer.result.total >= events, `${answer.result.total} of ${events} events are to be recovered`);
      const startedAt = performance.now();
      await untilCompleted(deployment, answer.result.id, progress);
      await receiver.take(events, 'old');
      return { answerS: answer.ms / 1000, tookS: (performance.now() - startedAt) / 1000 };
    };
    const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, prepare, trouble });
    await deployment.clearEvents();
    const name = `recovery of ${events} events`;
    const row = latencyRow(`${name}, p95 of the endpoint's live ones`, [{ beside, alone }], 1.5, 'p95', [
      'beside',
      'alone',
    ]);
    return [
      { ...row, runs: [{ beside, alone, ...result }] },
      absoluteRow(`${name}, answer`, [result.answerS], seconds),
      absoluteRow(`${name}, all delivered after`, [result.tookS], seconds),
      absoluteRow(`${name}, rate`, [events / result.tookS], perSecond),
    ];
  },
};

async function untilCompleted(deployment, id, progress) {
  for (let tenth = 1; ; await sleep(POLL_MS)) {
    const [{ status, recovered, total }] = await deployment.query(
      'SELECT status, recovered, total FROM webhook_recoveries WHERE id = $1',
      [id],
    );
    if (status === 'COMPLETED') return;
    must(status === 'RUNNING', `the recovery is ${status}`);
    if (recovered < (total * tenth) / 10) continue;
    progress(`${recovered} events`);
    tenth = Math.floor((recovered / total) * 10) + 1;
  }
}
