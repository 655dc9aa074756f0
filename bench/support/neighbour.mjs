import { offer } from './offer.mjs';
import { latencyOf } from './statistics.mjs';

/**
 * Measures how long one workspace's messages take: alone, then beside a neighbour's trouble. It is measured alone once
 * more when the trouble is over, so that other load on the machine affects both sides.
 *
 * @template T
 * @param {import('../main.mjs').Bench} bench
 * @param {import('./environment.mjs').Deployment} deployment
 * @param {object} neighbour
 * @param {import('./fixture.mjs').Receiving} neighbour.measured
 * @param {() => Promise<unknown>} [neighbour.prepare] what the trouble needs
 * @param {() => Promise<T>} neighbour.trouble ends with the trouble
 * @param {() => Promise<unknown>} [neighbour.calm] what is left to tidy up afterwards
 */
export async function besideTrouble({ plan, environment }, deployment, { measured, prepare, trouble, calm }) {
  const { perSecond, seconds } = plan.neighbour;
  const measure = async (duration) => {
    const sent = await offer(deployment, [measured], { perSecond, ...duration });
    return (await environment.receiver.take(sent)).times;
  };
  await measure({ seconds: 1 });
  const before = await measure({ seconds });
  await prepare?.();
  const end = new AbortController();
  const measuring = measure({ until: end.signal });
  measuring.catch(() => undefined); // awaited below, unless the trouble fails
  let result;
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
    beside: { ...latencyOf(times), ...bySecond(times) },
    result,
  };
}

/** The p95 of the messages of each second: shows when the trouble was worst. */
function bySecond(/** @type {[number, number][]} */ times) {
  const since = times.reduce((earliest, [madeAt]) => Math.min(earliest, madeAt), Infinity);
  /** @type {[number, number][][]} */
  const seconds = [];
  for (const time of times) (seconds[Math.floor((time[0] - since) / 1000)] ??= []).push(time);
  return { p95BySecond: Array.from(seconds, (ofSecond) => (ofSecond ? latencyOf(ofSecond).p95 : null)) };
}
