import { inTurn } from '../support/measure.mjs';
import { sameAnswers } from '../support/answers.mjs';
import { putUnderLoad } from '../support/load.mjs';
import { latencyRow, throughputRow } from '../support/report.mjs';
import { requestsOf } from '../support/requests.mjs';

const CONNECTIONS = 16;

const READS = {
  me: 'GET /me',
  conversations: 'list 50 conversations',
  filtered: 'list 50 conversations, filtered',
  messages: 'list 50 messages',
  contacts: 'search contacts',
};

/** The reads, against a hand-written server that returns the same. */
export const reads = {
  name: 'reads',
  parts: Object.keys(READS),

  /** @param {import('../main.mjs').Bench} bench */
  async run({ plan, small, wants, progress }) {
    const deployment = await small();
    const requests = await requestsOf(deployment);
    const headers = { authorization: `Bearer ${deployment.fixture.measured.apiKey}` };
    const [service, limit] = await Promise.all([
      deployment.startService('api'),
      deployment.startLimit('api.mjs'),
    ]);
    const rows = [];
    for (const [read, name] of Object.entries(READS)) {
      if (!wants(read)) continue;
      progress(name);
      const bodies = await sameAnswers([service.url, limit.url], requests[read], headers);
      const load = { requests: requests[read], headers, connections: CONNECTIONS, bodies };
      const sides = (seconds) => ({
        ours: () => putUnderLoad(service, { ...load, seconds }),
        limit: () => putUnderLoad(limit, { ...load, seconds }),
      });
      await inTurn(1, sides(plan.warmUpSeconds));
      const runs = await inTurn(plan.rounds, sides(plan.httpSeconds));
      rows.push(throughputRow(name, runs, 0.8), latencyRow(`${name}, p99`, runs, 1.5));
    }
    return rows;
  },
};
