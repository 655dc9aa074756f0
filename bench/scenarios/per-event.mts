import { sleep } from '../../scripts/processes.mjs';
import type { Bench, Scenario } from '../scenario.mts';
import { ApiCallers, CALLERS, type Answers } from '../support/api-callers.mts';
import { untilRecorded } from '../support/deliveries.mts';
import type { Deployment } from '../support/deployment.mts';
import { measureWork, type EventWork } from '../support/event-meter.mts';
import { DAY_MS } from '../support/fixture.mts';
import { HISTORY } from '../support/history.mts';
import { inTurn, middle } from '../support/measure.mts';
import type { Sender } from '../support/offer-by-api.mts';
import { makePartitions } from '../support/old-deliveries.mts';
import type { EventLoad, Plan } from '../support/plan.mts';
import {
  microseconds,
  ms,
  number,
  perSecond,
  ratioOf,
  seconds,
  spreadOf,
  type Format,
  type Pair,
  type Row,
} from '../support/report.mts';
import { latencyOf, type Percentiles } from '../support/statistics.mts';
import { CountedProcesses } from '../support/work-counts.mts';
import type { EventWork as CountedWork } from '../../test/support/work-counts.mjs';

/** Conversations of each workspace, so that concurrent requests seldom meet in one. */
const CONVERSATIONS = 200;
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

/** Deliveries a second while all callers post, and the seconds from the last answer to the last arrival. */
interface Saturated {
  perSecond: number;
  leftSeconds: number;
  answers: Answers;
}

/** Figures of one program: its loads in the order of the plan, and its rates by the number of workspaces. */
interface Measured {
  rest: EventWork;
  loads: Load[];
  saturated: Saturated[];
}

/**
 * Measures the cost of one message with its event and webhook, each message in a request of its own, of one
 * workspace and of twenty, against a program written by hand that stores and delivers the same.
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
    const senders = await Senders.add(deployment, plan);
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
    return [...rowsOf(runs, plan), ...countRows(await countEach(bench, deployment, senders))];
  },
};

/** Workspaces that call the API, by their number and that of the webhook endpoints of each. */
class Senders {
  private readonly groups: Map<string, Sender[]>;

  private constructor(groups: Map<string, Sender[]>) {
    this.groups = groups;
  }

  static async add(deployment: Deployment, { perEvent: { loads, saturated } }: Plan): Promise<Senders> {
    const groups = new Map<string, Sender[]>();
    for (const load of [...loads, ...saturated]) {
      if (groups.has(nameOf(load))) continue;
      const receiving = await deployment.addReceiving(load.workspaces, 'live', 1, CONVERSATIONS);
      const senders = await deployment.addApiKeys(receiving);
      if (load.webhooks === 0) await removeEndpoints(deployment, senders);
      groups.set(nameOf(load), senders);
    }
    return new Senders(groups);
  }

  of(load: Pick<EventLoad, 'workspaces' | 'webhooks'>): Sender[] {
    return this.groups.get(nameOf(load))!;
  }

  get receiving(): Sender[] {
    return [...this.groups].filter(([name]) => name.endsWith(':1')).flatMap(([, senders]) => senders);
  }
}

function nameOf({ workspaces, webhooks }: Pick<EventLoad, 'workspaces' | 'webhooks'>): string {
  return `${workspaces}:${webhooks}`;
}

async function removeEndpoints(deployment: Deployment, senders: Sender[]): Promise<void> {
  const ids = senders.map(({ id }) => id);
  await deployment.query('DELETE FROM webhook_endpoints WHERE tenant_id = ANY ($1)', [ids]);
}

async function startService(deployment: Deployment, env: Record<string, string>[] = []): Promise<Program> {
  const [api, worker] = await Promise.all([
    deployment.startService('api', env[0]),
    deployment.startService('worker', env[1]),
  ]);
  return { url: api.url, pids: { api: api.pid, worker: worker.pid } };
}

async function startLimit(
  deployment: Deployment,
  senders: Senders,
  [env]: Record<string, string>[] = [],
): Promise<Program> {
  const limit = await deployment.startEventLimit(env);
  await limit.run(
    Object.fromEntries(senders.receiving.map(({ endpoint }) => [endpoint.id, endpoint.secret])),
  );
  return { url: limit.url, pids: { server: limit.pid } };
}

/** Posts messages of some senders, and waits until each has arrived and is recorded. */
async function post(
  deployment: Deployment,
  url: string,
  senders: Sender[],
  { webhooks }: Pick<EventLoad, 'webhooks'>,
  load: (callers: ApiCallers) => Promise<Answers>,
) {
  const { receiver } = deployment.environment;
  if (webhooks) await receiver.expect(senders);
  const since = await deployment.now();
  const callers = new ApiCallers(url, senders);
  const answers = await load(callers);
  const answeredAt = Date.now();
  await callers.close();
  const times = await receiver.take(answers.accepted * webhooks);
  await untilRecorded(deployment, senders, since, answers.accepted * webhooks);
  return { answers, answeredAt, times };
}

async function measureProgram(
  { plan: { perEvent: plan } }: Bench,
  deployment: Deployment,
  { url, pids }: Program,
  senders: Senders,
): Promise<Measured> {
  const warmUp = { perSecond: WARM_UP_PER_SECOND, seconds: plan.warmUpSeconds };
  for (const load of plan.saturated)
    await post(deployment, url, senders.of(load), load, (callers) => callers.offer(warmUp));
  const rest = await measureWork(deployment, pids, () => sleep(plan.restSeconds * 1000));
  const loads: Load[] = [];
  for (const load of plan.loads) {
    let posted: Awaited<ReturnType<typeof post>> | undefined;
    const work = await measureWork(deployment, pids, async () => {
      posted = await post(deployment, url, senders.of(load), load, (callers) => callers.offer(load));
    });
    const { answers, times } = posted!;
    loads.push({ answers, arrivals: latencyOf(times), work, each: eachOf(work, rest, answers.accepted) });
  }
  const saturated: Saturated[] = [];
  for (const load of plan.saturated) {
    const startedAt = Date.now();
    const { answers, answeredAt, times } = await post(deployment, url, senders.of(load), load, (callers) =>
      callers.saturate(CALLERS, plan.saturationSeconds),
    );
    const lastAt = times.reduce((last, [, arrivedAt]) => Math.max(last, arrivedAt), startedAt);
    const leftSeconds = Math.max(0, lastAt - answeredAt) / 1000;
    saturated.push({ perSecond: (times.length / (lastAt - startedAt)) * 1000, leftSeconds, answers });
  }
  return { rest, loads, saturated };
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

function rowsOf(runs: Run[], { perEvent: { loads, saturated } }: Plan): Row[] {
  const reported = { goal: 'reported', met: null, runs: null };
  const row = (scenario: string, format: Format, figureOf: (one: Measured) => number): Row => {
    const pairs = runs.map((run): Pair => [figureOf(run.ours), figureOf(run.limit)]);
    const text = (side: 0 | 1) => format(middle(pairs, (pair) => pair[side]));
    return {
      scenario,
      ours: text(0),
      limit: text(1),
      ratio: ratioOf(pairs),
      spread: spreadOf(pairs),
      ...reported,
    };
  };
  const shapeOf = ({ workspaces }: Pick<EventLoad, 'workspaces'>) =>
    workspaces === 1 ? 'one workspace' : `${workspaces} workspaces`;
  const rows = loads.flatMap((load, n) => {
    const name = `${shapeOf(load)}, ${load.perSecond}/s ${load.webhooks ? 'with a webhook' : 'without'}`;
    const percentiles = (what: string, of: (one: Load) => Percentiles) =>
      (['p50', 'p95'] as const).map((rank) =>
        row(`${name}, ${what}, ${rank}`, ms, (one) => of(one.loads[n]!)[rank]),
      );
    const costs = [
      row(`${name}, an event: own`, microseconds, (one) => one.loads[n]!.each.ownUs),
      row(`${name}, an event: PostgreSQL`, microseconds, (one) => one.loads[n]!.each.postgresUs),
      row(`${name}, an event: Redis`, microseconds, (one) => one.loads[n]!.each.redisUs),
      row(`${name}, an event: transactions`, number, (one) => one.loads[n]!.each.transactions),
      row(`${name}, an event: writes`, number, (one) => one.loads[n]!.each.writes),
    ];
    return [
      ...(load.perSecond < COSTED_PER_SECOND ? [] : costs),
      ...percentiles('request → answer', ({ answers }) => answers),
      ...(load.webhooks ? percentiles('request → receiver', ({ arrivals }) => arrivals) : []),
    ];
  });
  const atRest = (figureOf: (work: EventWork) => number) => (one: Measured) =>
    figureOf(one.rest) / one.rest.seconds;
  return [
    ...rows.map((one, n) => (n === 0 ? { ...one, runs } : one)),
    ...saturated.flatMap((load, n) => [
      row(`${shapeOf(load)}, ${CALLERS} callers, delivered`, perSecond, (one) => one.saturated[n]!.perSecond),
      row(`${shapeOf(load)}, ${CALLERS} callers, left`, seconds, (one) => one.saturated[n]!.leftSeconds),
    ]),
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

/** Work an event of each process of both programs. */
type Counted = Record<'ours' | 'limit', Record<string, CountedWork>>;

/** Counts the work of both programs apart from the other loads, because counting has a cost. */
async function countEach(
  { plan: { perEvent: plan }, environment, progress }: Bench,
  deployment: Deployment,
  senders: Senders,
): Promise<Counted> {
  const count = async (
    name: string,
    roles: string[],
    start: (env: Record<string, string>[]) => Promise<Program>,
  ) => {
    progress(`work of ${name}`);
    const counted = new CountedProcesses(deployment, roles);
    const { url, pids } = await start(counted.environments);
    const load = { workspaces: 1, webhooks: 1 } as const;
    const offer = (seconds: number) =>
      post(deployment, url, senders.of(load), load, (callers) =>
        callers.offer({ perSecond: plan.counted.perSecond, seconds }),
      );
    await offer(plan.warmUpSeconds);
    const counts = await counted.count(Object.values(pids), async () => {
      const { answers } = await offer(plan.counted.seconds);
      return answers.accepted;
    });
    await environment.stopProcesses();
    await deployment.clearEvents();
    return counts;
  };
  return {
    ours: await count('the service', ['api', 'worker'], (env) => startService(deployment, env)),
    limit: await count('the limit', ['server'], (env) => startLimit(deployment, senders, env)),
  };
}

function countRows(counted: Counted): Row[] {
  const sum = (all: Record<string, CountedWork>, figure: keyof CountedWork) =>
    Object.values(all).reduce((total, counts) => total + counts[figure], 0);
  const text = (all: Record<string, CountedWork>, figure: keyof CountedWork) =>
    Object.values(all)
      .map((counts) => number(counts[figure]))
      .join(' + ');
  return Object.keys(counted.limit.server!).map((name) => {
    const figure = name as keyof CountedWork;
    return {
      scenario: `an event with a webhook, API + worker: ${name.replace('T', ' t')}`,
      ours: text(counted.ours, figure),
      limit: text(counted.limit, figure),
      ratio: sum(counted.ours, figure) / sum(counted.limit, figure),
      goal: 'reported',
      met: null,
      runs: counted,
    };
  });
}
