import autocannon from 'autocannon';
import type { Server } from './deployment.mts';
import { must } from './measure.mts';
import { percentilesOf, type Percentiles } from './statistics.mts';
import { processorMs } from './usage.mts';

const SAMPLE_MS = 100;

/**
 * Requests that `connections` callers send in turn for `seconds`. Each caller sends the next one as soon as
 * it has a response.
 */
export interface Load {
  requests: { method?: string; path: string; body?: string }[];
  headers: Record<string, string>;
  connections: number;
  seconds: number;
  /** Bodies that a response may have; omitted if each response differs. */
  bodies?: Set<string>;
}

/** Throughput and latencies in milliseconds of a server under load. */
export interface LoadResult extends Percentiles {
  perSecond: number;
  /** Number of responses. */
  answers: number;
  /** Milliseconds of the server's processor time for each request. */
  processor: number;
}

/**
 * Sends a load to a server, and measures its throughput, its latencies and its processor time.
 *
 * @throws WrongAnswers when a response is wrong
 */
export async function putUnderLoad(
  { url, pid }: Server,
  { requests, headers, connections, seconds, bodies }: Load,
): Promise<LoadResult> {
  let caller = 0;
  const latencies: number[] = [];
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
  const perSecond = (latencies.length / (lastAt - startedAt)) * 1000;
  const processor = (processorMs(pid) - processorBefore) / latencies.length;
  return { perSecond, answers: latencies.length, ...percentilesOf(latencies), processor };
}
