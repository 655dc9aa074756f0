import { sameAnswers } from '../support/answers.mjs';
import { deliver } from '../support/deliveries.mjs';
import { putUnderLoad } from '../support/load.mjs';
import { inTurn, middle, ratio } from '../support/measure.mjs';
import { perSecond } from '../support/report.mjs';
import { requestsOf } from '../support/requests.mjs';

const CONNECTIONS = 16;

/** The gain of a second process. It has no goal, because it depends on the machine's cores. */
export const scaling = {
  name: 'scaling',

  /** @param {import('../main.mjs').Bench} bench */
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

async function twoApis(deployment, { rounds, seconds }) {
  const { conversations: requests } = await requestsOf(deployment);
  const headers = { authorization: `Bearer ${deployment.fixture.measured.apiKey}` };
  const servers = [await deployment.startService('api'), await deployment.startService('api')];
  const urls = servers.map(({ url }) => url);
  const bodies = await sameAnswers(urls, requests, headers);
  const loadOn = async (targets) => {
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

async function twoWorkers(deployment, { rounds, deliveries }) {
  await deployment.startService('worker');
  const warmUp = Math.ceil(deliveries / 4);
  await deliver(deployment, warmUp);
  const one = await inTurn(rounds, { one: () => deliver(deployment, deliveries) });
  await deployment.startService('worker');
  await deliver(deployment, warmUp);
  const two = await inTurn(rounds, { two: () => deliver(deployment, deliveries) });
  return one.map((run, n) => ({ ...run, ...two[n] }));
}

function reported(scenario, runs) {
  return {
    scenario,
    ours: perSecond(middle(runs, 'two', 'perSecond')),
    limit: `one: ${perSecond(middle(runs, 'one', 'perSecond'))}`,
    ratio: ratio(runs, 'perSecond', ['two', 'one']),
    goal: 'reported',
    met: null,
    runs,
  };
}
