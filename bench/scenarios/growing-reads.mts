import type { Scenario } from '../scenario.mts';
import { sameAnswers } from '../support/answers.mts';
import type { Deployment, Server } from '../support/deployment.mts';
import { putUnderLoad, type LoadResult } from '../support/load.mts';
import { inTurn } from '../support/measure.mts';
import { absoluteRow, latencyRow, ms, type Pair, type Row } from '../support/report.mts';
import { requestsOf, type ReadName } from '../support/requests.mts';

const READS: [read: ReadName, name: string][] = [
  ['conversations', 'list conversations'],
  ['filtered', 'list conversations, filtered'],
  ['messages', 'list messages'],
  ['contacts', 'search contacts'],
  ['frequentContacts', 'search contacts, frequent terms'],
  ['rareContacts', 'search contacts, rare terms'],
];
const SEARCHES: ReadName[] = ['contacts', 'frequentContacts', 'rareContacts'];
const SEARCH_P95_MS = 50;

/**
 * Measures the latency of reads in a large database against a small one. One caller sends them in turn, so
 * the result is the time of a read and not the server's throughput.
 */
export const growingReads: Scenario = {
  name: 'growing-reads',

  async run({ plan, small, large, progress }) {
    const sides = { small: await sideOf(await small()), large: await sideOf(await large()) };
    const growth = plan.large.conversations / plan.small.conversations;
    const rows: Row[] = [];
    for (const [read, name] of READS) {
      progress(name);
      const loads = {
        small: await loadOf(sides.small, read, plan.growthSeconds),
        large: await loadOf(sides.large, read, plan.growthSeconds),
      };
      const runs = await inTurn(1 + plan.rounds, loads);
      runs.shift(); // the warm-up
      const pairs = runs.map((run): Pair => [run.large.p95, run.small.p95]);
      const atMost = SEARCHES.includes(read) ? 1.5 : 1.3;
      rows.push(latencyRow(`${name}, p95 on ${growth} × the data`, pairs, atMost, runs));
      if (read === 'contacts') {
        const times = runs.map((run) => run.large.p95);
        rows.push(absoluteRow(`${name} among ${plan.large.conversations}, p95`, times, ms, SEARCH_P95_MS));
      }
    }
    return rows;
  },
};

/** Server on the small or the large database, and the requests to it. */
interface Side {
  server: Server;
  headers: Record<string, string>;
  requests: Awaited<ReturnType<typeof requestsOf>>;
}

async function sideOf(deployment: Deployment): Promise<Side> {
  const server = await deployment.startService('api');
  const headers = { authorization: `Bearer ${deployment.fixture.measured.apiKey}` };
  return { server, headers, requests: await requestsOf(deployment) };
}

async function loadOf(
  { server, headers, requests: all }: Side,
  read: ReadName,
  seconds: number,
): Promise<() => Promise<LoadResult>> {
  const requests = all[read];
  const bodies = await sameAnswers([server.url], requests, headers);
  return () => putUnderLoad(server, { requests, headers, connections: 1, seconds, bodies });
}
