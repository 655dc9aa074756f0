import type { Bench } from '../scenario.mts';
import type { Deployment } from './deployment.mts';
import type { Receiving } from './fixture.mts';
import { offer } from './offer.mts';
import { latencyOf, type Arrival, type Percentiles } from './statistics.mts';

/**
 * Load that one workspace makes while another one's messages are measured, and the acts before and after it.
 */
export interface Trouble<Result> {
  /** Workspace whose messages are measured. */
  measured: Receiving;
  /** Prepares the rows that `trouble` needs, before it is timed. */
  prepare?: () => Promise<unknown>;
  /** Makes the load. The measurement beside it ends when this resolves. */
  trouble: () => Promise<Result>;
  /** Removes remains of the load, such as hanging requests. */
  calm?: () => Promise<unknown>;
}

/**
 * Latencies in milliseconds of the measured workspace's messages, alone and beside the load, and the result
 * of `Trouble.trouble`.
 */
interface BesideTrouble<Result> {
  alone: Percentiles;
  beside: Percentiles & { p95BySecond: (number | null)[] };
  result: Result;
}

/**
 * Measures how long one workspace's messages take to its endpoint: alone, beside a neighbour's load, and
 * alone again when that is over. So other load on the machine affects both sides.
 */
export async function besideTrouble<Result>(
  { plan, environment }: Bench,
  deployment: Deployment,
  { measured, prepare, trouble, calm }: Trouble<Result>,
): Promise<BesideTrouble<Result>> {
  const { perSecond, seconds } = plan.neighbour;
  const measure = async (duration: { seconds: number } | { until: AbortSignal }) => {
    const sent = await offer(deployment, [measured], { perSecond, ...duration });
    return environment.receiver.take(sent);
  };
  await measure({ seconds: 1 });
  const before = await measure({ seconds });
  await prepare?.();
  const end = new AbortController();
  const measuring = measure({ until: end.signal });
  measuring.catch(() => undefined); // awaited below, unless the trouble fails
  let result: Result;
  try {
    result = await trouble();
  } finally {
    end.abort();
  }
  const times = await measuring;
  await calm?.();
  const after = await measure({ seconds });
  return {
    alone: latencyOf([...before, ...after]),
    beside: { ...latencyOf(times), p95BySecond: p95BySecond(times) },
    result,
  };
}

/**
 * Returns the p95 in milliseconds of the messages made in each second, null for a second without one. It
 * shows when the load hurt most.
 */
function p95BySecond(times: Arrival[]): (number | null)[] {
  const since = times.reduce((earliest, [madeAt]) => Math.min(earliest, madeAt), Infinity);
  const seconds: Arrival[][] = [];
  for (const time of times) (seconds[Math.floor((time[0] - since) / 1000)] ??= []).push(time);
  return Array.from(seconds, (second: Arrival[] | undefined) => (second ? latencyOf(second).p95 : null));
}
