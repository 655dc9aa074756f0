import { sleep } from '../../scripts/processes.mjs';
import type { Bench, Scenario } from '../scenario.mts';
import { ApiCallers, type Answers } from '../support/api-callers.mts';
import { untilRecorded } from '../support/deliveries.mts';
import type { Deployment } from '../support/deployment.mts';
import { measureWork, type EventWork } from '../support/event-meter.mts';
import { DAY_MS } from '../support/fixture.mts';
import { HISTORY } from '../support/history.mts';
import { inTurn, middle } from '../support/measure.mts';
import type { Sender } from '../support/offer-by-api.mts';
import { makePartitions } from '../support/old-deliveries.mts';
import type { Plan } from '../support/plan.mts';
import {
  microseconds,
  ms,
  number,
  perSecond,
  ratioOf,
  type Format,
  type Pair,
  type Row,
} from '../support/report.mts';
import {
  countStatements,
  forgetStatements,
  listStatements,
  type StatementCount,
} from '../support/statement-counts.mts';
import { latencyOf, type Percentiles } from '../support/statistics.mts';

const WORKSPACES = 20;
const WARM_UP_PER_SECOND = 200;
/** Rate below which the cost of an event is lost in the variation of the processes' use at rest. */
const COSTED_PER_SECOND = 100;

/** Server of POST message, with the processes that store and deliver its events. */
interface Program {
  url: string;
  pids: Record<string, number>;
}

/** Result of one load: answers, times from request to arrival, and the work an event beyond that at rest. */
interface Load {
  answers: Answers;
  arrivals: Percentiles;
  work: EventWork;
  /** Work of one event, without that of the same time at rest. */
  each: { ownUs: number; postgresUs: number; redisUs: number; transactions: number; writes: number };
}

/** Loads of one program, by the number of webhooks and the rate. */
interface Measured {
  rest: EventWork;
  loads: Record<string, Load>;
  saturated: { perSecond: number; answers: Answers };
}

/**
 * Measures the cost of one message with its event and webhook at several rates, each message in a request of
 * its own, against a program written by hand that stores and delivers the same.
 */
export const perEvent: Scenario = {
  name: 'per-event',
  heavy: true,

  async run(bench) {
    const { plan, environment, progress } = bench;
    const deployment = await environment.deployment('per_event', plan.small);
    const now = Date.now();
    for (const table of HISTORY)
      await makePartitions(deployment.pool, table, now - plan.perEvent.days * DAY_MS, plan.perEvent.days);
    const senders = await makeSenders(deployment);
    const measure = async (name: string, start: () => Promise<Program>) => {
      progress(name);
      const measured = await measureProgram(bench, deployment, await start(), senders);
      await environment.stopProcesses();
      await deployment.clearEvents();
      return measured;
    };
    const runs = await inTurn(plan.perEvent.rounds, {
      ours: () => measure('the service', () => startService(deployment)),
      limit: () => measure('the limit', () => startLimit(deployment, senders)),
    });
    const statements = await countEach(bench, deployment, senders);
    return [...rowsOf(runs, plan), ...statementRows(statements)];
  },
};

/** Workspaces that call the API, by the number of their webhook endpoints. */
type Senders = Record<0 | 1, Sender[]>;

async function makeSenders(deployment: Deployment): Promise<Senders> {
  const [none, one] = [await addSenders(deployment), await addSenders(deployment)];
  await deployment.query('DELETE FROM webhook_endpoints WHERE tenant_id = ANY ($1)', [
    none.map(({ id }) => id),
  ]);
  return { 0: none, 1: one };
}

async function addSenders(deployment: Deployment): Promise<Sender[]> {
  return deployment.addApiKeys(await deployment.addReceiving(WORKSPACES, 'live'));
}

async function startService(deployment: Deployment): Promise<Program> {
  const [api, worker] = await Promise.all([
    deployment.startService('api'),
    deployment.startService('worker'),
  ]);
  return { url: api.url, pids: { api: api.pid, worker: worker.pid } };
}

async function startLimit(deployment: Deployment, senders: Senders): Promise<Program> {
  const limit = await deployment.startEventLimit();
  await limit.run(Object.fromEntries(senders[1].map(({ endpoint }) => [endpoint.id, endpoint.secret])));
  return { url: limit.url, pids: { server: limit.pid } };
}

async function measureProgram(
  { plan, environment: { receiver } }: Bench,
  deployment: Deployment,
  { url, pids }: Program,
  senders: Senders,
): Promise<Measured> {
  const { rates, restSeconds, callers, saturationSeconds } = plan.perEvent;
  await receiver.expect(senders[1]);
  /** Posts messages, and waits until each has arrived and is recorded. */
  const post = async (webhooks: 0 | 1, load: (one: ApiCallers) => Promise<Answers>) => {
    const since = await deployment.now();
    const one = new ApiCallers(url, senders[webhooks], callers);
    const answers = await load(one);
    await one.close();
    const times = await receiver.take(answers.accepted * webhooks);
    await untilRecorded(deployment, senders[webhooks], since, answers.accepted * webhooks);
    return { answers, times };
  };
  for (const webhooks of [0, 1] as const)
    await post(webhooks, (one) =>
      one.offer({ perSecond: WARM_UP_PER_SECOND, seconds: plan.perEvent.warmUpSeconds }),
    );
  const rest = await measureWork(deployment, pids, () => sleep(restSeconds * 1000));
  const loads: Measured['loads'] = {};
  for (const webhooks of [0, 1] as const)
    for (const { perSecond, seconds } of rates) {
      let posted: Awaited<ReturnType<typeof post>> | undefined;
      const work = await measureWork(deployment, pids, async () => {
        posted = await post(webhooks, (one) => one.offer({ perSecond, seconds }));
      });
      const { answers, times } = posted!;
      loads[`${webhooks}:${perSecond}`] = {
        answers,
        arrivals: latencyOf(times),
        work,
        each: eachOf(work, rest, answers.accepted),
      };
    }
  const startedAt = Date.now();
  const { answers, times } = await post(1, (one) => one.saturate(callers, saturationSeconds));
  const lastAt = times.reduce((last, [, arrivedAt]) => Math.max(last, arrivedAt), startedAt);
  return { rest, loads, saturated: { perSecond: (times.length / (lastAt - startedAt)) * 1000, answers } };
}

function eachOf(work: EventWork, rest: EventWork, count: number): Load['each'] {
  const each = (figureOf: (work: EventWork) => number) =>
    (figureOf(work) - (figureOf(rest) * work.seconds) / rest.seconds) / count;
  return {
    ownUs: each(ownUs),
    postgresUs: each(({ postgresUs }) => postgresUs),
    redisUs: each(({ redisUs }) => redisUs),
    transactions: each(({ transactions }) => transactions),
    writes: each(({ writes }) => writes),
  };
}

function ownUs(work: EventWork): number {
  return Object.values(work.ownUs).reduce((all, one) => all + one, 0);
}

interface Run {
  ours: Measured;
  limit: Measured;
}

function rowsOf(runs: Run[], { perEvent: { rates, callers } }: Plan): Row[] {
  const reported = { goal: 'reported', met: null, runs: null };
  const row = (scenario: string, format: Format, figuresOf: (one: Measured) => number[]): Row => {
    const text = (side: keyof Run) => {
      const counts = figuresOf(runs[0]![side]).keys();
      return [...counts].map((n) => format(middle(runs, (run) => figuresOf(run[side])[n]!))).join(' / ');
    };
    const pairs = runs.map((run): Pair => [sum(figuresOf(run.ours)), sum(figuresOf(run.limit))]);
    return { scenario, ours: text('ours'), limit: text('limit'), ratio: ratioOf(pairs), ...reported };
  };
  const latencyRow = (scenario: string, percentilesOf: (one: Measured) => Percentiles): Row => {
    const written = row(scenario, ms, (one) => {
      const { p50, p95, p99 } = percentilesOf(one);
      return [p50, p95, p99];
    });
    const pairs = runs.map((run): Pair => [percentilesOf(run.ours).p95, percentilesOf(run.limit).p95]);
    return { ...written, ratio: ratioOf(pairs) };
  };
  const rows = ([0, 1] as const).flatMap((webhooks) =>
    rates.flatMap(({ perSecond: rate }) => {
      const name = `${rate}/s ${webhooks ? 'with a webhook' : 'without'}`;
      const load = (one: Measured) => one.loads[`${webhooks}:${rate}`]!;
      const costs = [
        row(`${name}, an event: own / PostgreSQL / Redis`, microseconds, (one) => {
          const { each } = load(one);
          return [each.ownUs, each.postgresUs, each.redisUs];
        }),
        row(`${name}, an event: transactions`, number, (one) => [load(one).each.transactions]),
        row(`${name}, an event: writes`, number, (one) => [load(one).each.writes]),
      ];
      return [
        ...(rate < COSTED_PER_SECOND ? [] : costs),
        latencyRow(`${name}, request → answer, p50 / p95 / p99`, (one) => load(one).answers),
        ...(webhooks
          ? [latencyRow(`${name}, request → receiver, p50 / p95 / p99`, (one) => load(one).arrivals)]
          : []),
      ];
    }),
  );
  const atRest = (figureOf: (work: EventWork) => number) => (one: Measured) => [
    figureOf(one.rest) / one.rest.seconds,
  ];
  return [
    ...rows.map((one, n) => (n === 0 ? { ...one, runs } : one)),
    row(`${callers} callers, delivered`, perSecond, ({ saturated }) => [saturated.perSecond]),
    row('a second at rest: own', microseconds, atRest(ownUs)),
    row(
      'a second at rest: PostgreSQL',
      microseconds,
      atRest(({ postgresUs }) => postgresUs),
    ),
    row(
      'a second at rest: transactions',
      number,
      atRest(({ transactions }) => transactions),
    ),
  ];
}

function sum(values: number[]): number {
  return values.reduce((all, one) => all + one, 0);
}

/** Statements of both programs an event with a webhook. */
type Statements = Record<'ours' | 'limit', StatementCount[]>;

/** Counts the statements of both programs, apart from the other loads, because counting has a cost. */
async function countEach(
  { plan, environment, progress }: Bench,
  deployment: Deployment,
  senders: Senders,
): Promise<Statements | null> {
  if (!(await countStatements(deployment))) return null;
  const { perSecond, seconds } = plan.perEvent.counted;
  const count = async (name: string, { url }: Program): Promise<StatementCount[]> => {
    progress(`statements of ${name}`);
    const { receiver } = environment;
    await receiver.expect(senders[1]);
    const since = await deployment.now();
    const callers = new ApiCallers(url, senders[1], plan.perEvent.callers);
    await callers.offer({ perSecond, seconds: plan.perEvent.warmUpSeconds });
    await forgetStatements(deployment);
    const { accepted } = await callers.offer({ perSecond, seconds });
    await callers.close();
    await receiver.take(accepted + perSecond * plan.perEvent.warmUpSeconds);
    const statements = await listStatements(deployment);
    await untilRecorded(deployment, senders[1], since, accepted + perSecond * plan.perEvent.warmUpSeconds);
    await environment.stopProcesses();
    await deployment.clearEvents();
    return statements.map(({ text, ...counts }) => ({
      text,
      calls: counts.calls / accepted,
      plans: counts.plans / accepted,
      ms: counts.ms / accepted,
    }));
  };
  return {
    ours: await count('the service', await startService(deployment)),
    limit: await count('the limit', await startLimit(deployment, senders)),
  };
}

function statementRows(statements: Statements | null): Row[] {
  if (!statements) return [];
  const total = (side: keyof Statements, figure: 'calls' | 'plans' | 'ms') =>
    sum(statements[side].map((one) => one[figure]));
  const row = (scenario: string, figure: 'calls' | 'plans' | 'ms', format: Format): Row => {
    const [ours, limit] = [total('ours', figure), total('limit', figure)];
    return {
      scenario,
      ours: format(ours),
      limit: format(limit),
      ratio: ours / limit,
      goal: 'reported',
      met: null,
      runs: null,
    };
  };
  return [
    { ...row('an event with a webhook: statements', 'calls', number), runs: statements },
    row('an event with a webhook: plans', 'plans', number),
    row('an event with a webhook: time of statements', 'ms', ms),
  ];
}
