import { sleep } from '../../scripts/processes.mjs';
import type { Scenario } from '../scenario.mts';
import { addEvents } from '../support/add-events.mts';
import type { Deployment } from '../support/deployment.mts';
import { DAY_MS } from '../support/fixture.mts';
import { itemAt } from '../support/items.mts';
import { must } from '../support/measure.mts';
import { besideTrouble } from '../support/neighbour.mts';
import { absoluteRow, latencyRow, perSecond, seconds } from '../support/report.mts';

const POLL_MS = 500;

/**
 * Measures the latency of an endpoint's new events while a recovery sends `plan.recover.events` old events to
 * it again.
 */
export const recover: Scenario = {
  name: 'recover',
  heavy: true,

  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { receiver } = environment;
    const { events } = plan.recover;
    const deployment = await small();
    const measured = itemAt(await deployment.addReceiving(1, 'live'), 0);
    const host = await deployment.startHost();
    await deployment.startService('worker');
    await receiver.expect([measured]);
    const prepare = async () => {
      progress(`making ${events} events`);
      await addEvents(deployment.pool, measured, events, false);
      await deployment.pool.query(
        `UPDATE webhook_endpoints SET created_at = now() - interval '1 day' WHERE tenant_id = $1`,
        [measured.id],
      );
      progress('recovering them');
    };
    const trouble = async () => {
      const { ms, recovery } = await host.run({
        name: 'recoverMissed',
        tenantId: measured.id,
        endpointId: measured.endpoint.id,
        agentId: measured.agentId,
        since: new Date(Date.now() - DAY_MS).toISOString(),
      });
      // The service counts for a limited time, so the total of many events is incomplete.
      must(
        recovery && (recovery.total >= events || !recovery.isTotalComplete),
        `${recovery?.total} of ${events} events are to be recovered`,
      );
      const startedAt = performance.now();
      await untilCompleted(deployment, recovery.id, progress);
      await receiver.take(events, 'old');
      return { answerS: ms / 1000, tookS: (performance.now() - startedAt) / 1000 };
    };
    const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, prepare, trouble });
    await deployment.clearEvents();
    const name = `recovery of ${events} events`;
    const runs = [{ beside, alone, ...result }];
    return [
      latencyRow(`${name}, p95 of the endpoint's live ones`, [[beside.p95, alone.p95]], 1.5, runs),
      absoluteRow(`${name}, answer`, [result.answerS], seconds),
      absoluteRow(`${name}, all delivered after`, [result.tookS], seconds),
      absoluteRow(`${name}, rate`, [events / result.tookS], perSecond),
    ];
  },
};

interface Progress {
  status: string;
  recovered: number;
  total: number;
}

async function untilCompleted(
  deployment: Deployment,
  id: string | null,
  progress: (line: string) => void,
): Promise<void> {
  for (let tenth = 1; ; await sleep(POLL_MS)) {
    const { status, recovered, total } = await deployment.queryOne<Progress>(
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
