import { sleep } from '../../scripts/processes.mjs';
import { untilRecorded } from '../support/deliveries.mjs';
import { middle, ratio } from '../support/measure.mjs';
import { offerByApi } from '../support/offer-by-api.mjs';
import { bytes, microseconds, number, perSecond } from '../support/report.mjs';
import { consumption } from '../support/shared-parts.mjs';
import { oneServerEach, withCluster, withPooler } from '../support/stages.mjs';
import { latencyOf, median } from '../support/statistics.mjs';

const WORKSPACES = 20;
/** What a message's webhooks cost shows in the difference between these. */
const WEBHOOKS = [1, 3];
/** Of the most processes to the fewest, under the same load. */
const AT_MOST = 1.3;
/** Sixteen processes stay below PostgreSQL's number of connections. */
const ENV = { DATABASE_POOL_SIZE: '8' };

/** What the parts cost that all processes share, a message and a delivery, and that it does not grow with the processes. */
export const shares = {
  name: 'shares',
  heavy: true,

  /** @param {import('../main.mjs').Bench} bench */
  async run(bench) {
    const { plan, environment, small, progress } = bench;
    const deployment = await small();
    const senders = await sendersOf(deployment);
    const [fewest] = plan.shares.processes;
    /** @type {Record<string, any>[]} by number of processes */
    const growth = [];
    /** @type {Record<string, any[]>} by stage */
    const costs = {};
    const on = async (stage, measure) => {
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
        (costs[stage.name] ??= []).push(await on(stage, (crowd) => measureCosts(crowd, fewest)));
      }
    }
    return [...growthRows(growth, plan.shares), ...Object.entries(costs).flatMap(costRows)];
  },
};

/** By the number of endpoints: workspaces that call the API. */
async function sendersOf(deployment) {
  const senders = {};
  for (const webhooks of WEBHOOKS)
    senders[webhooks] = await deployment.addApiKeys(
      await deployment.addReceiving(WORKSPACES, 'live', webhooks),
    );
  return senders;
}

/** As many API processes as workers, on one stage. */
class Crowd {
  /** @type {string[]} of the API processes */
  urls = [];

  constructor({ plan, environment, progress }, { name, env, parts }, senders) {
    this.plan = plan.shares;
    this.receiver = environment.receiver;
    this.progress = progress;
    this.name = name;
    this.env = env;
    this.parts = parts;
    this.senders = senders;
  }

  /** One pair after the other, so that none is too late. */
  async growTo(count) {
    const { deployment } = this.parts;
    this.progress(`${this.name}: ${count} API processes and as many workers`);
    while (this.urls.length < count) {
      const env = { ...ENV, ...this.env };
      const [{ url }] = await Promise.all(
        ['api', 'worker'].map((role) => deployment.startService(/** @type {any} */ (role), env)),
      );
      this.urls.push(url);
    }
    const { perSecond, warmUpSeconds } = this.plan;
    // New processes are slow: they would refuse what comes all at once.
    await this.send(WEBHOOKS[0], { perSecond: perSecond / 4, seconds: warmUpSeconds });
    await this.send(WEBHOOKS.at(-1), { perSecond, seconds: warmUpSeconds });
  }

  /** What the shared parts do while there is nothing to do. */
  rest() {
    return consumption(this.parts, () => sleep(this.plan.seconds * 1000));
  }

  /** What they do for messages with this many webhooks each, until the last one is recorded. */
  async serve(webhooks) {
    let sent;
    const used = await consumption(this.parts, async () => {
      sent = await this.send(webhooks, this.plan);
    });
    return { ...used, ...sent };
  }

  /** Every delivery must arrive and be recorded once. */
  async send(webhooks, { perSecond, seconds }) {
    const { deployment } = this.parts;
    const workspaces = this.senders[webhooks];
    await this.receiver.expect(workspaces);
    const [{ now }] = await deployment.query('SELECT clock_timestamp() AS now');
    const messages = await offerByApi(this.urls, workspaces, { perSecond, seconds });
    const deliveries = messages * webhooks;
    const { times } = await this.receiver.take(deliveries);
    await untilRecorded(deployment, workspaces, now, deliveries);
    return { messages, deliveries, latency: latencyOf(times) };
  }
}

/** What is compared: its name, and how it is written. */
const FIGURES = /** @type {[string, string, (value: number) => string][]} */ ([
  ['sharedUs', 'processor time of all shared parts', microseconds],
  ['postgresUs', 'processor time of PostgreSQL', microseconds],
  ['transactions', 'transactions', number],
  ['connections', 'new connections of PostgreSQL', number],
  ['wal', 'WAL', bytes],
  ['redisUs', 'processor time of Redis', microseconds],
  ['commands', 'commands of Redis', number],
  ['traffic', 'to and from Redis', bytes],
]);
/** Those of which one core is all there is, or may be. */
const SATURATING = [
  ['postgresUs', 'PostgreSQL, each core'],
  ['busiestNodeUs', 'Redis, its busiest server'],
  ['poolerUs', 'PgBouncer'],
];

/** A round: what a message with a webhook costs, by the number of processes, and what they cost at rest. */
async function measureGrowth(crowd, { processes }) {
  const round = {};
  for (const count of processes) {
    await crowd.growTo(count);
    const [rest, served] = [await crowd.rest(), await crowd.serve(WEBHOOKS[0])];
    round[count] = { ...each(served, served.messages), rest: each(rest, rest.seconds), served };
  }
  return round;
}

/** A round: what a message, one delivery and a second at rest cost. */
async function measureCosts(crowd, processes) {
  await crowd.growTo(processes);
  const rest = await crowd.rest();
  const [few, many] = [await crowd.serve(WEBHOOKS[0]), await crowd.serve(WEBHOOKS[1])];
  const atRest = each(rest, rest.seconds);
  const [withFew, withMany] = [few, many].map((served) => each(served, served.messages));
  const figures = Object.keys(atRest);
  const of = (figure) => {
    const delivery = (withMany[figure] - withFew[figure]) / (WEBHOOKS[1] - WEBHOOKS[0]);
    const resting = (atRest[figure] * few.seconds) / few.messages;
    return { message: withFew[figure] - WEBHOOKS[0] * delivery - resting, delivery, rest: atRest[figure] };
  };
  return {
    ...Object.fromEntries(figures.map((figure) => [figure, of(figure)])),
    measured: { rest, few, many },
  };
}

/** The figures that are compared, for each of `count`. Times are microseconds. */
function each({ postgres, redis, busiestNode, pooler }, count) {
  return {
    sharedUs: ((postgres.ms + redis.ms + pooler.ms) * 1000) / count,
    postgresUs: (postgres.ms * 1000) / count,
    transactions: postgres.transactions / count,
    connections: postgres.connections / count,
    wal: postgres.bytes / count,
    redisUs: (redis.ms * 1000) / count,
    busiestNodeUs: (busiestNode.ms * 1000) / count,
    commands: redis.commands / count,
    traffic: redis.bytes / count,
    poolerUs: (pooler.ms * 1000) / count,
  };
}

/** The fewest processes stand where other scenarios have their limit. */
function growthRows(rounds, { processes }) {
  const [fewest, ...more] = processes;
  const most = more.at(-1);
  const runs = (figureOf) =>
    rounds.map((round) =>
      Object.fromEntries(processes.map((count) => [count, { figure: figureOf(round[count]) }])),
    );
  const row = (scenario, format, figureOf, goal) => {
    const share = ratio(runs(figureOf), 'figure', [most, fewest]);
    return {
      scenario,
      ours: more.map((count) => format(middle(runs(figureOf), count, 'figure'))).join(' / '),
      limit: `${fewest}: ${format(middle(runs(figureOf), fewest, 'figure'))}`,
      ratio: Number.isFinite(share) ? share : null,
      goal: goal === null ? 'reported' : `≤ ${goal}`,
      met: goal === null ? null : share <= goal,
      runs: null,
    };
  };
  const by = `by ${more.join(' / ')} API processes and as many workers`;
  const rows = FIGURES.flatMap(([name, text, format]) => [
    row(
      `a message with a webhook, ${by}: ${text}`,
      format,
      (run) => run[name],
      name === 'connections' ? null : AT_MOST,
    ),
    row(`a second at rest, ${by}: ${text}`, format, (run) => run.rest[name], null),
  ]);
  const held = row(`${by}: locks held`, number, (run) => run.served.locked.held, null);
  const awaited = row(`${by}: locks awaited`, number, (run) => run.served.locked.awaited, null);
  return [{ ...rows[0], runs: rounds }, ...rows.slice(1), held, { ...awaited, ratio: null }];
}

/** @param {[string, any[]]} stage its name and rounds */
function costRows([name, runs]) {
  const cost = (figure, part) => median(runs.map((run) => run[figure][part]));
  const parts = ['message', 'delivery', 'rest'];
  const reported = { limit: '', ratio: null, goal: 'reported', met: null, runs: null };
  const used = FIGURES.concat([
    ['busiestNodeUs', 'processor time of the busiest Redis', microseconds],
    ['poolerUs', 'processor time of PgBouncer', microseconds],
  ]).map(([figure, text, format]) => ({
    ...reported,
    scenario: `${name}, a message / a delivery / a second at rest: ${text}`,
    ours: parts.map((part) => format(cost(figure, part))).join(' / '),
  }));
  const saturation = SATURATING.filter(([figure]) => cost(figure, 'message') > 0).map(([figure, text]) => ({
    ...reported,
    scenario: `${name}, reckoned: messages with ${WEBHOOKS[1]} webhooks that use up ${text}`,
    ours: perSecond(
      (1e6 - cost(figure, 'rest')) / (cost(figure, 'message') + WEBHOOKS[1] * cost(figure, 'delivery')),
    ),
  }));
  return [{ ...used[0], runs }, ...used.slice(1), ...saturation];
}
