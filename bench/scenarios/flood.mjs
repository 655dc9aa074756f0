import { append, deliver, untilRecorded, wake } from '../support/deliveries.mjs';
import { besideTrouble } from '../support/neighbour.mjs';
import { latencyRow, throughputRow } from '../support/report.mjs';

/** One workspace appends thousands of events at once, each for all its endpoints. Another sends messages meanwhile. */
export const flood = {
  name: 'flood',
  heavy: true,

  /** @param {import('../main.mjs').Bench} bench */
  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const { receiver, neighbours } = environment;
    const { events, endpoints } = plan.flood;
    const deployment = await small();
    const worker = await deployment.startService('worker');
    const [flooding] = await deployment.addReceiving(1, 'flood', endpoints);
    const [measured] = deployment.fixture.receiving;
    await deliver(deployment, Math.ceil(plan.deliveries / 4), worker);
    const limit = await deliver(deployment, plan.deliveries, worker);
    progress(`${events} events to ${endpoints} endpoints`);
    await receiver.expect([measured]);
    await neighbours.expect([flooding]);
    const count = events * endpoints;
    const trouble = async () => {
      const { from, until } = await append(deployment, [flooding], events);
      await wake(deployment, [flooding]);
      await neighbours.take(count, 'flood');
      const recorded = await untilRecorded(deployment, [flooding], from, count);
      return { perSecond: (count / (recorded - until)) * 1000 };
    };
    const { alone, beside, result } = await besideTrouble(bench, deployment, { measured, trouble });
    await deployment.clearEvents();
    const name = `${events} events to ${endpoints} endpoints of one workspace`;
    return [
      latencyRow(`${name}, p95 of another`, [{ beside, alone }], 1.5, 'p95', ['beside', 'alone']),
      throughputRow(`${name}, against 20 of 20`, [{ ours: result, limit, beside, alone }], 0.8),
    ];
  },
};
