import pg from 'pg';
import type { Scenario } from '../scenario.mts';
import { ENDPOINTS } from '../support/deliveries.mts';
import { itemAt } from '../support/items.mts';
import { offer } from '../support/offer.mts';
import { absoluteRow, microseconds, ms, ratioOf, type Pair } from '../support/report.mts';
import { latencyOf } from '../support/statistics.mts';
import { usageMeter } from '../support/usage.mts';

/** Number of conversations of a workspace: each gets about a message a minute. */
const CONVERSATIONS = 500;
const MINUTE_SECONDS = 60;

/**
 * Measures the cost of a delivery in PostgreSQL while a snapshot is held open, which keeps every row that
 * dies. Before the last minute the worker is replaced, and another workspace sends its first messages in it.
 */
export const heldSnapshot: Scenario = {
  name: 'held-snapshot',
  heavy: true,

  async run({ plan, environment, small, progress }) {
    const { receiver } = environment;
    const { perSecond, minutes: count } = plan.heldSnapshot;
    const deployment = await small();
    const receiving = await deployment.addReceiving(ENDPOINTS + 1, 'live', 1, CONVERSATIONS);
    const [silent, ...workspaces] = receiving;
    await receiver.expect(receiving);
    let worker = await deployment.startService('worker');
    await receiver.take(await offer(deployment, workspaces, { perSecond, seconds: 5 }));
    const holder = new pg.Client({ connectionString: deployment.databaseAdminUrl });
    await holder.connect();
    await holder.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await holder.query('SELECT count(*) FROM event_queue');
    const minutes = [];
    for (let minute = 1; minute <= count; minute++) {
      const isLast = minute === count;
      if (isLast) {
        await worker.stop();
        worker = await deployment.startService('worker');
      }
      const senders = isLast ? [...workspaces, silent!] : workspaces;
      const usage = await usageMeter(deployment, worker);
      const sent = await offer(deployment, senders, { perSecond, seconds: MINUTE_SECONDS });
      const { p95 } = latencyOf(await receiver.take(sent));
      const { postgresUs = NaN, workerUs, idle } = usage(sent);
      progress(`minute ${minute}: PostgreSQL ${postgresUs.toFixed()} µs a delivery, p95 ${p95} ms`);
      minutes.push({ minute, postgresUs, workerUs, idle, p95 });
    }
    await holder.end();
    await deployment.clearEvents();
    const [first, last] = [itemAt(minutes, 0), itemAt(minutes, -1)];
    const pair: Pair = [last.postgresUs, first.postgresUs];
    const name = `${perSecond}/s beside a snapshot of ${minutes.length} minutes`;
    return [
      {
        scenario: `${name}, PostgreSQL a delivery in the last minute and the first`,
        ours: microseconds(pair[0]),
        limit: microseconds(pair[1]),
        ratio: ratioOf([pair]),
        goal: '≤ 1.3',
        met: ratioOf([pair]) <= 1.3,
        runs: minutes,
      },
      absoluteRow(
        `${name}, p95 of a minute`,
        minutes.map((one) => one.p95),
        ms,
      ),
    ];
  },
};
