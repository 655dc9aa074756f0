import autocannon from 'autocannon';
import { must } from './measure.mjs';
import { percentiles } from './statistics.mjs';
import { processorMs } from './usage.mjs';

const SAMPLE_MS = 100;

/**
 * Puts a server under load: each caller sends its next request as soon as it has a response.
 *
 * @param {{ url: string, pid: number }} server
 * @param {object} load
 * @param {{ method?: string, path: string, body?: string }[]} load.requests sent in turn
 * @param {Record<string, string>} load.headers
 * @param {number} load.connections
 * @param {number} load.seconds
 * @param {Set<string>} [load.bodies] the valid bodies; omitted if each response differs
 * @returns requests a second, number of responses, and latency and processor time a request in milliseconds
 * @throws WrongAnswers when a response is wrong
 */
export async function putUnderLoad({ url, pid }, { requests, headers, connections, seconds, bodies }) {
  let caller = 0;
  /** @type {number[]} */
  const latencies = [];
  const running = autocannon({
    url,
    requests: requests.map((request) => ({ method: 'GET', ...request })),
    headers,
    connections,
    duration: seconds,
    sampleInt: SAMPLE_MS,
    ...(bodies && { verifyBody: (body) => bodies.has(body) }),
    // Each caller begins at another request, so that callers do not run in step.
    setupClient: (client) => {
      const from = Math.floor((requests.length / connections) * caller++);
      const { requests: built } = client.requestIterator;
      client.setRequests([...built.slice(from), ...built.slice(0, from)]);
    },
  });
  const processorBefore = processorMs(pid);
  const startedAt = performance.now();
  let lastAt = startedAt;
  running.on('response', (_client, _status, _bytes, ms) => {
    latencies.push(ms);
    lastAt = performance.now();
  });
  const result = await running;
  must(result.non2xx === 0, `${result.non2xx} of ${latencies.length} answers were not 2xx`);
  must(result.errors + result.timeouts === 0, `${result.errors} requests failed`);
  must(result.mismatches === 0, `${result.mismatches} of ${latencies.length} answers were wrong`);
  must(latencies.length > 0, 'nothing was answered');
  const [p50, p95, p99] = percentiles(latencies, [50, 95, 99]);
  const perSecond = (latencies.length / (lastAt - startedAt)) * 1000;
  const processor = (processorMs(pid) - processorBefore) / latencies.length;
  return { perSecond, answers: latencies.length, p50, p95, p99, processor };
}
