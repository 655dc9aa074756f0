import type { Bench } from '../scenario.mts';
import type { Deployment } from './deployment.mts';
import type { Receiving } from './fixture.mts';
import { offer } from './offer.mts';
import { latencyOf, type Arrival, type Percentiles } from './statistics.mts';

/** The trouble that one workspace makes while another one's messages are measured. */
export interface Trouble<Result> {
  /** The other one. */
  measured: Receiving;
  /** Makes what the trouble needs. */
  prepare?: () => Promise<unknown>;
  /** Makes trouble, and ends with it. */
  trouble: () => Promise<Result>;
  /** Tidies up what is left afterwards. */
  calm?: () => Promise<unknown>;
}

/** Latencies of the measured workspace's messages, and the result of the trouble. */
export interface BesideTrouble<Result> {
  alone: Percentiles;
  beside: Percentiles & { p95BySecond: (number | null)[] };
  result: Result;
}

/**
 * Measures how long one workspace's messages take: alone, then beside a neighbour's trouble. It is measured
 * alone once more when the trouble is over, so that other load on the machine affects both sides.
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

/** Returns the p95 of the messages of each second, null without one: shows when the trouble was worst. */
function p95BySecond(times: Arrival[]): (number | null)[] {
  const since = times.reduce((earliest, [madeAt]) => Math.min(earliest, madeAt), Infinity);
  const seconds: Arrival[][] = [];
  for (const time of times) (seconds[Math.floor((time[0] - since) / 1000)] ??= []).push(time);
  return Array.from(seconds, (second: Arrival[] | undefined) => (second ? latencyOf(second).p95 : null));
}
