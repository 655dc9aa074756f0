import type { Scenario } from '../scenario.mts';
import { sameAnswers } from '../support/answers.mts';
import { deliver } from '../support/deliveries.mts';
import type { Deployment, Server } from '../support/deployment.mts';
import { putUnderLoad } from '../support/load.mts';
import { itemAt } from '../support/items.mts';
import { inTurn, middle } from '../support/measure.mts';
import type { Plan } from '../support/plan.mts';
import { perSecond, ratioOf, type Row } from '../support/report.mts';
import { requestsOf } from '../support/requests.mts';

const CONNECTIONS = 16;

/**
 * Measures how much faster two processes are than one. It has no goal, because the gain depends on the
 * machine's cores.
 */
export const scaling: Scenario = {
  name: 'scaling',

  async run({ plan, environment, small, progress }) {
    const deployment = await small();
    progress('two API processes');
    const api = await twoApis(deployment, plan.scaling);
    await environment.stopProcesses();
    progress('two workers');
    return [
      reported('list 50 conversations, two API processes', api),
      reported('deliveries, two workers', await twoWorkers(deployment, plan.scaling)),
    ];
  },
};

/** Throughput of one process and of two in a round. */
interface Scaled {
  one: { perSecond: number };
  two: { perSecond: number };
}

async function twoApis(deployment: Deployment, { rounds, seconds }: Plan['scaling']): Promise<Scaled[]> {
  const { conversations: requests } = await requestsOf(deployment);
  const headers = { authorization: `Bearer ${deployment.fixture.measured.apiKey}` };
  const servers = [await deployment.startService('api'), await deployment.startService('api')];
  const urls = servers.map(({ url }) => url);
  const bodies = await sameAnswers(urls, requests, headers);
  const loadOn = async (targets: Server[]) => {
    const load = { requests, headers, connections: CONNECTIONS / targets.length, seconds, bodies };
    const results = await Promise.all(targets.map((server) => putUnderLoad(server, load)));
    return { perSecond: results.reduce((sum, result) => sum + result.perSecond, 0) };
  };
  await loadOn(servers);
  return inTurn(rounds, {
    one: () => loadOn(servers.slice(0, 1)),
    two: () => loadOn(servers),
  });
}

async function twoWorkers(
  deployment: Deployment,
  { rounds, deliveries }: Plan['scaling'],
): Promise<Scaled[]> {
  const worker = await deployment.startService('worker');
  const warmUp = Math.ceil(deliveries / 4);
  await deliver(deployment, worker, warmUp);
  const one = await inTurn(rounds, { one: () => deliver(deployment, worker, deliveries) });
  await deployment.startService('worker');
  await deliver(deployment, worker, warmUp);
  const two = await inTurn(rounds, { two: () => deliver(deployment, worker, deliveries) });
  return one.map((run, n) => ({ ...run, ...itemAt(two, n) }));
}

function reported(scenario: string, runs: Scaled[]): Row {
  return {
    scenario,
    ours: perSecond(middle(runs, ({ two }) => two.perSecond)),
    limit: `one: ${perSecond(middle(runs, ({ one }) => one.perSecond))}`,
    ratio: ratioOf(runs.map(({ two, one }) => [two.perSecond, one.perSecond])),
    goal: 'reported',
    met: null,
    runs,
  };
}
