import type { Scenario } from '../scenario.mts';
import { append, deliver, perSecondBetween, untilRecorded, wake } from '../support/deliveries.mts';
import { itemAt } from '../support/items.mts';
import { besideTrouble } from '../support/neighbour.mts';
import { latencyRow, throughputRow, type Pair } from '../support/report.mts';

/**
 * Measures a workspace that sends messages while another one appends thousands of events, each for all its
 * endpoints.
 */
export const flood: Scenario = {
  name: 'flood',
  heavy: true,

  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { receiver, neighbours } = environment;
    const { events, endpoints } = plan.flood;
    const deployment = await small();
    const worker = await deployment.startService('worker');
    const flooding = itemAt(await deployment.addReceiving(1, 'flood', endpoints), 0);
    const measured = itemAt(deployment.fixture.receiving, 0);
    await deliver(deployment, worker, Math.ceil(plan.deliveries / 4));
    const limit = await deliver(deployment, worker, plan.deliveries);
    progress(`${events} events to ${endpoints} endpoints`);
    await receiver.expect([measured]);
    await neighbours.expect([flooding]);
    const count = events * endpoints;
    const trouble = async () => {
      const { from, until } = await append(deployment, [flooding], events);
      await wake(deployment, [flooding]);
      await neighbours.take(count, 'flood');
      const recordedAt = await untilRecorded(deployment, [flooding], from, count);
      return { perSecond: perSecondBetween(until, recordedAt, count) };
    };
    const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, trouble });
    await deployment.clearEvents();
    const name = `${events} events to ${endpoints} endpoints of one workspace`;
    const pair: Pair = [result.perSecond, limit.perSecond];
    const runs = [{ ours: result, limit, beside, alone }];
    return [
      latencyRow(`${name}, p95 of another`, [[beside.p95, alone.p95]], 1.5),
      throughputRow(`${name}, against 20 of 20`, [pair], 0.8, runs),
    ];
  },
};
