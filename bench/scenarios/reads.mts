import type { Scenario } from '../scenario.mts';
import { inTurn } from '../support/measure.mts';
import { sameAnswers } from '../support/answers.mts';
import { putUnderLoad } from '../support/load.mts';
import { latencyRow, throughputRow, type Pair, type Row } from '../support/report.mts';
import { requestsOf, type ReadName } from '../support/requests.mts';

const CONNECTIONS = 16;

const READS = {
  me: 'GET /me',
  conversations: 'list 50 conversations',
  filtered: 'list 50 conversations, filtered',
  messages: 'list 50 messages',
  contacts: 'search contacts',
};

/** Measures the API's reads against a hand-written server whose responses are the same. */
export const reads: Scenario = {
  name: 'reads',
  parts: Object.keys(READS),

  async run({ plan, small, wants, progress }) {
    const deployment = await small();
    const requests = await requestsOf(deployment);
    const headers = { authorization: `Bearer ${deployment.fixture.measured.apiKey}` };
    const [service, limit] = await Promise.all([deployment.startService('api'), deployment.startApiLimit()]);
    const rows: Row[] = [];
    for (const [read, name] of Object.entries(READS) as [ReadName, string][]) {
      if (!wants(read)) continue;
      progress(name);
      const bodies = await sameAnswers([service.url, limit.url], requests[read], headers);
      const load = { requests: requests[read], headers, connections: CONNECTIONS, bodies };
      const sides = (seconds: number) => ({
        ours: () => putUnderLoad(service, { ...load, seconds }),
        limit: () => putUnderLoad(limit, { ...load, seconds }),
      });
      await inTurn(1, sides(plan.warmUpSeconds));
      const runs = await inTurn(plan.rounds, sides(plan.httpSeconds));
      const throughputs = runs.map(({ ours, limit }): Pair => [ours.perSecond, limit.perSecond]);
      const latencies = runs.map(({ ours, limit }): Pair => [ours.p99, limit.p99]);
      rows.push(throughputRow(name, throughputs, 0.8, runs), latencyRow(`${name}, p99`, latencies, 1.5));
    }
    return rows;
  },
};
