import type { Scenario } from '../scenario.mts';
import { ENDPOINTS } from '../support/deliveries.mts';
import { itemAt } from '../support/items.mts';
import { middle, must } from '../support/measure.mts';
import { offer } from '../support/offer.mts';
import { ms, type Row } from '../support/report.mts';
import { latencyOf, type Arrival, type Percentiles } from '../support/statistics.mts';

/** Highest p95 in milliseconds, by the messages a second. */
const GOALS: Record<number, number> = { 200: 7, 1000: 20 };
const STEADY = { perSecond: 1000 };
/** Growth of the backlog that still counts as steady, in seconds' worth of messages. */
const LEEWAY_SECONDS = 0.1;

/** Latencies in milliseconds of one round at one rate. */
interface Run extends Percentiles {
  perSecond: number;
  /** Messages made but not yet delivered, in the middle and at the end of the measurement. */
  backlog: { half: number; end: number };
}

/** Measures the time from a message's creation to its arrival at the webhook receiver, at several rates. */
export const latency: Scenario = {
  name: 'latency',

  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    const workspaces = deployment.fixture.receiving.slice(0, ENDPOINTS);
    await deployment.startService('worker');
    await environment.receiver.expect(deployment.fixture.receiving);
    const measure = async (perSecond: number, seconds: number): Promise<Run> => {
      progress(`${perSecond} messages a second for ${seconds} s`);
      const sent = await offer(deployment, workspaces, { perSecond, seconds });
      return { perSecond, ...describe(await environment.receiver.take(sent)) };
    };
    await measure(STEADY.perSecond, plan.warmUpSeconds);
    const runs: Run[] = [];
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

function describe(times: Arrival[]): Omit<Run, 'perSecond'> {
  const made = times.map(([madeAt]) => madeAt).sort((a, b) => a - b);
  const underWayAt = (moment: number) =>
    times.filter(([madeAt, arrivedAt]) => madeAt <= moment && arrivedAt > moment).length;
  const [first, last] = [itemAt(made, 0), itemAt(made, -1)];
  return { ...latencyOf(times), backlog: { half: underWayAt((first + last) / 2), end: underWayAt(last) } };
}

function rowsOf(perSecond: number, runs: Run[]): Row[] {
  const p50 = middle(runs, (run) => run.p50);
  const p95 = middle(runs, (run) => run.p95);
  const p99 = middle(runs, (run) => run.p99);
  const goal = GOALS[perSecond];
  const scenario = `commit → receiver at ${perSecond}/s`;
  const rows: Row[] = [
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
  const half = middle(runs, ({ backlog }) => backlog.half);
  const end = middle(runs, ({ backlog }) => backlog.end);
  const growth = middle(runs, ({ backlog }) => backlog.end - backlog.half);
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
