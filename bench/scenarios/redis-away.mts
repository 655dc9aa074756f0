import { sleep } from '../../scripts/processes.mjs';
import type { Scenario } from '../scenario.mts';
import { itemAt } from '../support/items.mts';
import { must } from '../support/measure.mts';
import { offer } from '../support/offer.mts';
import type { Receiver } from '../support/receiver.mts';
import { startRedisProxy } from '../support/redis-proxy.mts';
import { absoluteRow, ms } from '../support/report.mts';

const WORKSPACES = 20;
/**
 * Seconds before the second attempt, the third and so on, as the contract promises. Each may be up to 10 %
 * longer.
 */
const GAPS_S = [2, 4, 8, 16, 32];
const JITTER = 1.1;
/**
 * Interval in seconds at which a worker without Redis looks for due deliveries: each gap may be so much
 * longer.
 */
const LEEWAY_S = 1;
/**
 * Longest time in milliseconds from a message to its first attempt: the poll's interval and the attempt
 * itself.
 */
const FIRST_MS = 1_100;
const POLL_MS = 200;
const LATE_S = 30;

/** Measures the times between attempts of failing deliveries while the worker can't reach Redis. */
export const redisAway: Scenario = {
  name: 'redis-away',
  heavy: true,

  async run({ plan, environment, small, progress }) {
    const { attempts } = plan.redisAway;
    const deployment = await small();
    const failing = await deployment.addReceiving(WORKSPACES, 'fail');
    const proxy = await startRedisProxy(deployment.redisUrl);
    await deployment.startService('worker', { REDIS_URL: proxy.url });
    await environment.neighbours.expect(failing);
    proxy.cut();
    progress(`${attempts} attempts`);
    const sent = await offer(deployment, failing, { perSecond: WORKSPACES, seconds: 1 });
    const deliveries = await untilAttempted(environment.neighbours, sent, attempts);
    const [first = NaN, ...gaps] = longestGaps(deliveries);
    const bounds = GAPS_S.slice(0, attempts - 1);
    return [
      absoluteRow('first attempt with Redis away, at most', [first * 1000], ms, FIRST_MS),
      {
        scenario: 'gaps between attempts with Redis away, at most',
        ours: gaps.map((gap) => gap.toFixed(1)).join(' / ') + ' s',
        limit: `${bounds.map((gap) => (gap * JITTER).toFixed(1)).join(' / ')} s`,
        ratio: null,
        goal: `≤ + ${LEEWAY_S} s`,
        met: gaps.every((gap, n) => gap <= itemAt(bounds, n) * JITTER + LEEWAY_S),
        runs: deliveries,
      },
    ];
  },
};

/**
 * Waits until every delivery has been attempted `attempts` times. Returns for each delivery the time of its
 * message and of its attempts, in milliseconds since 1970.
 */
async function untilAttempted(receiver: Receiver, sent: number, attempts: number): Promise<number[][]> {
  const expectedS = GAPS_S.slice(0, attempts - 1).reduce((sum, gap) => sum + gap, 0);
  const giveUpAt = performance.now() + (expectedS * JITTER + LATE_S) * 1000;
  for (;;) {
    const deliveries = await receiver.listFailed();
    must(
      deliveries.every((times) => times.length - 1 <= GAPS_S.length + 1),
      'an attempt too many was made',
    );
    const done = deliveries.filter((times) => times.length > attempts);
    if (done.length === sent) return done.map((times) => times.slice(0, attempts + 1));
    must(performance.now() < giveUpAt, `${done.length} of ${sent} deliveries had ${attempts} attempts`);
    await sleep(POLL_MS);
  }
}

/**
 * Returns the longest gap of all deliveries before each attempt, in seconds. The first gap runs from the
 * message to its first attempt.
 */
function longestGaps(deliveries: number[][]): number[] {
  return itemAt(deliveries, 0)
    .slice(1)
    .map((_, n) => {
      const gaps = deliveries.map((times) => (itemAt(times, n + 1) - itemAt(times, n)) / 1000);
      must(
        n === 0 || Math.min(...gaps) >= itemAt(GAPS_S, n - 1) - 0.01,
        `a gap of ${Math.min(...gaps)} s is too short`,
      );
      return Math.max(...gaps);
    });
}
