import { ENDPOINTS } from '../support/deliveries.mjs';
import { must } from '../support/measure.mjs';
import { offer } from '../support/offer.mjs';
import { ms } from '../support/report.mjs';
import { latencyOf, median } from '../support/statistics.mjs';

/** The most that p95 may be, by rate. */
const GOALS = { 200: 7, 1000: 20 };
const STEADY = { perSecond: 1000 };
/** A backlog that grows by less than the events of 100 ms counts as steady. */
const LEEWAY_SECONDS = 0.1;

/** Time from a message's creation to its receiver, at several rates. */
export const latency = {
  name: 'latency',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    const workspaces = deployment.fixture.receiving.slice(0, ENDPOINTS);
    await deployment.startService('worker');
    await environment.receiver.expect(deployment.fixture.receiving);
    const measure = async (perSecond, seconds) => {
      progress(`${perSecond} messages a second for ${seconds} s`);
      const sent = await offer(deployment, workspaces, { perSecond, seconds });
      const { times } = await environment.receiver.take(sent);
      return { perSecond, ...describe(times) };
    };
    await measure(STEADY.perSecond, plan.warmUpSeconds);
    const runs = [];
    for (let round = 0; round < plan.latency.rounds; round++)
      for (const perSecond of plan.latency.rates) runs.push(await measure(perSecond, plan.latency.seconds));
    must(runs.length > 0, 'nothing was measured');
    return plan.latency.rates.flatMap((perSecond) =>
      rowsOf(
        perSecond,
        runs.filter((run) => run.perSecond === perSecond),
      ),
    );
  },
};

/** Percentiles of the latency, and the backlog at half time and at the end. */
function describe(/** @type {[number, number][]} */ times) {
  const made = times.map(([madeAt]) => madeAt).sort((a, b) => a - b);
  const underWayAt = (moment) =>
    times.filter(([madeAt, arrivedAt]) => madeAt <= moment && arrivedAt > moment).length;
  const [first, last] = [made[0], made.at(-1)];
  return { ...latencyOf(times), backlog: [underWayAt((first + last) / 2), underWayAt(last)] };
}

function rowsOf(perSecond, runs) {
  const middle = (/** @type {(run: any) => number} */ figure) => median(runs.map(figure));
  const [p50, p95, p99] = [({ p50 }) => p50, ({ p95 }) => p95, ({ p99 }) => p99].map(middle);
  const goal = GOALS[perSecond];
  const scenario = `commit → receiver at ${perSecond}/s`;
  const rows = [
    {
      scenario: `${scenario}, p50 / p95 / p99`,
      ours: `${p50} / ${p95} / ${ms(p99)}`,
      limit: '',
      ratio: null,
      goal: goal ? `p95 ≤ ${ms(goal)}` : 'reported',
      met: goal ? p95 <= goal : null,
      runs,
    },
  ];
  if (perSecond !== STEADY.perSecond) return rows;
  const [half, end] = [({ backlog }) => backlog[0], ({ backlog }) => backlog[1]].map(middle);
  const growth = middle(({ backlog }) => backlog[1] - backlog[0]);
  return [
    ...rows,
    {
      scenario: `${scenario}, backlog at half and end`,
      ours: `${half} → ${end}`,
      limit: '',
      ratio: null,
      goal: 'not growing',
      met: growth <= perSecond * LEEWAY_SECONDS,
      runs: null,
    },
  ];
}
