import { sameAnswers } from '../support/answers.mjs';
import { putUnderLoad } from '../support/load.mjs';
import { inTurn } from '../support/measure.mjs';
import { absoluteRow, latencyRow, ms } from '../support/report.mjs';
import { requestsOf } from '../support/requests.mjs';

const READS = {
  conversations: 'list conversations',
  filtered: 'list conversations, filtered',
  messages: 'list messages',
  contacts: 'search contacts',
  frequentContacts: 'search contacts, frequent terms',
  rareContacts: 'search contacts, rare terms',
};
const SEARCHES = ['contacts', 'frequentContacts', 'rareContacts'];
const SEARCH_P95_MS = 50;

/** Reads on much data against reads on little data. One caller, because it measures time, not load. */
export const growingReads = {
  name: 'growing-reads',

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, small, large, progress }) {
    const deployments = { small: await small(), large: await large() };
    const sides = {};
    for (const [size, deployment] of Object.entries(deployments)) {
      const server = await deployment.startService('api');
      const headers = { authorization: `Bearer ${deployment.fixture.measured.apiKey}` };
      sides[size] = { server, headers, requests: await requestsOf(deployment) };
    }
    const rows = [];
    for (const [read, name] of Object.entries(READS)) {
      progress(name);
      const runs = await inTurn(1 + plan.rounds, await loadsOf(sides, read, plan.growthSeconds));
      runs.shift(); // the warm-up
      const row = latencyRow(
        `${name}, p95 on ${plan.large.conversations / plan.small.conversations} × the data`,
        runs,
        SEARCHES.includes(read) ? 1.5 : 1.3,
        'p95',
        ['large', 'small'],
      );
      rows.push({ ...row, runs });
      if (read === 'contacts') {
        const times = runs.map((run) => run.large.p95);
        rows.push(absoluteRow(`${name} among ${plan.large.conversations}, p95`, times, ms, SEARCH_P95_MS));
      }
    }
    return rows;
  },
};

async function loadsOf(sides, read, seconds) {
  const loads = {};
  for (const [size, { server, headers, requests }] of Object.entries(sides)) {
    const bodies = await sameAnswers([server.url], requests[read], headers);
    const load = { requests: requests[read], headers, connections: 1, seconds, bodies };
    loads[size] = () => putUnderLoad(server, load);
  }
  return loads;
}
