import type { Scenario } from '../scenario.mts';
import { costsOf, type Costs } from '../support/costs.mts';
import { addSenders, Crowd, WEBHOOKS, type Sent } from '../support/crowd.mts';
import { itemAt } from '../support/items.mts';
import { middle } from '../support/measure.mts';
import type { Plan } from '../support/plan.mts';
import {
  bytes,
  microseconds,
  number,
  perSecond,
  ratioOf,
  type Format,
  type Pair,
  type Row,
} from '../support/report.mts';
import type { Consumption } from '../support/shared-parts.mts';
import { oneServerEach, withCluster, withPooler, type Stage } from '../support/stages.mts';

/** Highest ratio of the costs with the most processes to those with the fewest, under the same load. */
const AT_MOST = 1.3;

/**
 * Measures the cost of a message and of a delivery on the servers that all processes share, and whether the
 * costs grow with the number of processes.
 */
export const shares: Scenario = {
  name: 'shares',
  heavy: true,

  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const deployment = await small();
    const senders = await addSenders(deployment);
    const fewest = itemAt(plan.shares.processes, 0);
    const growth: Growth[] = [];
    const costs = new Map<string, CostRound[]>();
    const on = async <T,>(stage: Stage, measure: (crowd: Crowd) => Promise<T>): Promise<T> => {
      try {
        return await measure(new Crowd(bench, stage, senders));
      } finally {
        await environment.stopProcesses();
        await stage.stop();
      }
    };
    for (let round = 0; round < plan.shares.rounds; round++) {
      progress(`round ${round + 1} of ${plan.shares.rounds}`);
      growth.push(await on(oneServerEach(deployment), (crowd) => measureGrowth(crowd, plan.shares)));
      for (const start of [oneServerEach, withCluster, withPooler]) {
        const stage = await start(deployment);
        const measured = await on(stage, (crowd) => measureCosts(crowd, fewest));
        costs.set(stage.name, [...(costs.get(stage.name) ?? []), measured]);
      }
    }
    const costsOfStages = [...costs].flatMap(([name, rounds]) => costRows(name, rounds));
    return [...growthRows(growth, plan.shares), ...costsOfStages];
  },
};

/** Costs of a message with one webhook, and of a second without load, for one number of processes. */
interface GrowthStep {
  message: Costs;
  rest: Costs;
  served: Consumption & Sent;
}

/** Costs of one round, by the number of API processes. */
type Growth = Record<number, GrowthStep>;

async function measureGrowth(crowd: Crowd, { processes }: Plan['shares']): Promise<Growth> {
  const round: Growth = {};
  for (const count of processes) {
    await crowd.growTo(count);
    const [rest, served] = [await crowd.rest(), await crowd.serve(WEBHOOKS[0])];
    round[count] = {
      message: costsOf(served, served.messages),
      rest: costsOf(rest, rest.seconds),
      served,
    };
  }
  return round;
}

/**
 * Costs of one round on one stage: of a message without its deliveries, of one delivery, and of a second
 * without load.
 */
interface CostRound {
  message: Costs;
  delivery: Costs;
  rest: Costs;
  measured: unknown;
}

async function measureCosts(crowd: Crowd, processes: number): Promise<CostRound> {
  await crowd.growTo(processes);
  const resting = await crowd.rest();
  const [few, many] = [await crowd.serve(WEBHOOKS[0]), await crowd.serve(WEBHOOKS[1])];
  const rest = costsOf(resting, resting.seconds);
  const [withFew, withMany] = [costsOf(few, few.messages), costsOf(many, many.messages)];
  const delivery = mapCosts(
    rest,
    (figure) => (withMany[figure] - withFew[figure]) / (WEBHOOKS[1] - WEBHOOKS[0]),
  );
  const message = mapCosts(
    rest,
    (figure) =>
      withFew[figure] - WEBHOOKS[0] * delivery[figure] - (rest[figure] * few.seconds) / few.messages,
  );
  return { message, delivery, rest, measured: { rest: resting, few, many } };
}

function mapCosts(costs: Costs, costOf: (figure: keyof Costs) => number): Costs {
  const mapped = { ...costs };
  for (const figure of Object.keys(costs) as (keyof Costs)[]) mapped[figure] = costOf(figure);
  return mapped;
}

/** Figure of the report: its field in `Costs`, its name in the result table, and how a value is written. */
interface Figure {
  name: keyof Costs;
  text: string;
  format: Format;
}

const FIGURES: Figure[] = [
  { name: 'sharedUs', text: 'processor time of all shared parts', format: microseconds },
  { name: 'postgresUs', text: 'processor time of PostgreSQL', format: microseconds },
  { name: 'transactions', text: 'transactions', format: number },
  { name: 'connections', text: 'new connections of PostgreSQL', format: number },
  { name: 'wal', text: 'WAL', format: bytes },
  { name: 'redisUs', text: 'processor time of Redis', format: microseconds },
  { name: 'commands', text: 'commands of Redis', format: number },
  { name: 'traffic', text: 'to and from Redis', format: bytes },
];
const FIGURES_OF_STAGES: Figure[] = [
  ...FIGURES,
  { name: 'busiestNodeUs', text: 'processor time of the busiest Redis', format: microseconds },
  { name: 'poolerUs', text: 'processor time of PgBouncer', format: microseconds },
];
/**
 * Servers that one processor core limits, or may limit, with the field of `Costs` that tells their use of it.
 */
const SATURATING: { name: keyof Costs; text: string }[] = [
  { name: 'postgresUs', text: 'PostgreSQL, each core' },
  { name: 'busiestNodeUs', text: 'Redis, its busiest server' },
  { name: 'poolerUs', text: 'PgBouncer' },
];

/**
 * Returns the result table's rows about growing numbers of processes. The column of the limit holds the
 * fewest processes.
 */
function growthRows(rounds: Growth[], { processes }: Plan['shares']): Row[] {
  const fewest = itemAt(processes, 0);
  const more = processes.slice(1);
  const most = itemAt(more, -1);
  const row = (
    scenario: string,
    format: Format,
    figureOf: (step: GrowthStep) => number,
    goal: number | null = null,
  ): Row => {
    const figure = (round: Growth, count: number) => figureOf(round[count]!);
    const share = ratioOf(rounds.map((round): Pair => [figure(round, most), figure(round, fewest)]));
    const written = (count: number) => format(middle(rounds, (round) => figure(round, count)));
    return {
      scenario,
      ours: more.map(written).join(' / '),
      limit: `${fewest}: ${written(fewest)}`,
      ratio: Number.isFinite(share) ? share : null,
      goal: goal === null ? 'reported' : `≤ ${goal}`,
      met: goal === null ? null : share <= goal,
      runs: null,
    };
  };
  const by = `by ${more.join(' / ')} API processes and as many workers`;
  const rows = FIGURES.flatMap(({ name, text, format }) => {
    const goal = name === 'connections' ? null : AT_MOST;
    return [
      row(`a message with a webhook, ${by}: ${text}`, format, ({ message }) => message[name], goal),
      row(`a second at rest, ${by}: ${text}`, format, ({ rest }) => rest[name]),
    ];
  });
  const held = row(`${by}: locks held`, number, ({ served }) => served.locked.held);
  const awaited = row(`${by}: locks awaited`, number, ({ served }) => served.locked.awaited);
  return [...withRuns(rows, rounds), held, { ...awaited, ratio: null }];
}

/**
 * Returns the result table's rows about one stage: the costs of a message, of a delivery and of a second
 * without load.
 */
function costRows(name: string, rounds: CostRound[]): Row[] {
  const cost = (figure: keyof Costs, part: 'message' | 'delivery' | 'rest') =>
    middle(rounds, (round) => round[part][figure]);
  const reported = { limit: '', ratio: null, goal: 'reported', met: null, runs: null };
  const used = FIGURES_OF_STAGES.map(({ name: figure, text, format }) => ({
    ...reported,
    scenario: `${name}, a message / a delivery / a second at rest: ${text}`,
    ours: [cost(figure, 'message'), cost(figure, 'delivery'), cost(figure, 'rest')].map(format).join(' / '),
  }));
  const saturating = SATURATING.filter(({ name: figure }) => cost(figure, 'message') > 0);
  const saturation = saturating.map(({ name: figure, text }) => ({
    ...reported,
    scenario: `${name}, reckoned: messages with ${WEBHOOKS[1]} webhooks that use up ${text}`,
    ours: perSecond(
      (1e6 - cost(figure, 'rest')) / (cost(figure, 'message') + WEBHOOKS[1] * cost(figure, 'delivery')),
    ),
  }));
  return withRuns([...used, ...saturation], rounds);
}

/** Puts the measured values of all rounds into the first row, so that the JSON report holds them once. */
function withRuns(rows: Row[], runs: unknown): Row[] {
  return rows.map((row, n) => (n === 0 ? { ...row, runs } : row));
}
