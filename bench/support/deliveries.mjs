import { createRequire } from 'node:module';
import { sleep } from '../../scripts/processes.mjs';
import { lowestId } from './fixture.mjs';
import { must } from './measure.mjs';
import { OUTBOX_SIGNAL } from './settings.mjs';
import { usageMeter } from './usage.mjs';

const { channelOf } = createRequire(import.meta.url)('../../dist/redis/worker-shards.js');

/** Workspaces with one endpoint each. */
export const ENDPOINTS = 20;
const RECORDED_WITHIN_MS = 10_000;
const POLL_MS = 20;
/** Bounds a message to Redis. */
const SIGNALS_AT_ONCE = 1_000;

const busy = ({ fixture }) => fixture.receiving.slice(0, ENDPOINTS);

/** The secrets of the busy endpoints. */
export const secretsOf = (deployment) =>
  Object.fromEntries(busy(deployment).map(({ endpoint }) => [endpoint.id, endpoint.secret]));

/**
 * Appends events to workspaces in turn, in one transaction.
 * @returns the database's time before and afterwards
 */
export async function append(deployment, workspaces, count) {
  const [{ now: from }] = await deployment.query('SELECT clock_timestamp() AS now');
  await deployment.query(
    `WITH appended AS (
       SELECT n, w.*, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms
       FROM generate_series(1, $1::int) AS n
       JOIN unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS w (tenant_id, conversation_id, position)
         ON w.position = 1 + n % array_length($2::uuid[], 1)
     ), identified AS (
       SELECT *, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id FROM appended
     ), event AS (
       INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
       SELECT tenant_id, id, 'message.created',
              format('{"conversationId":"%s","message":{"id":"%s","body":"%s","senderType":"AGENT","createdAt":"%s"}}',
                     conversation_id, id, 'It is on its way, and should be with you on Tuesday.',
                     to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json,
              n, now()
       FROM identified
     )
     INSERT INTO event_queue (tenant_id, event_id) SELECT tenant_id, id FROM identified`,
    [count, workspaces.map(({ id }) => id), workspaces.map(({ conversationIds }) => conversationIds[0])],
  );
  const [{ now: until }] = await deployment.query('SELECT clock_timestamp() AS now');
  return { from, until };
}

/** Wakes the relay for workspaces with new events. */
export async function wake({ redis }, workspaces) {
  for (let n = 0; n < workspaces.length; n += SIGNALS_AT_ONCE) {
    const signals = redis.pipeline();
    for (const { id } of workspaces.slice(n, n + SIGNALS_AT_ONCE))
      signals.publish(channelOf(OUTBOX_SIGNAL, id), JSON.stringify(id));
    await signals.exec();
  }
}

/**
 * Appends events, and waits until the worker has recorded their deliveries.
 *
 * @param {{ pid: number }} [worker] whose processor time is measured
 * @throws WrongAnswers when a delivery is missing, doubled, wrongly signed or not recorded
 */
export async function deliver(deployment, count, worker, workspaces = busy(deployment)) {
  const { receiver } = deployment.environment;
  await receiver.expect(workspaces);
  const { from, until } = await append(deployment, workspaces, count);
  const usage = worker && (await usageMeter(deployment, worker));
  await wake(deployment, workspaces);
  await receiver.take(count);
  const recorded = await untilRecorded(deployment, workspaces, from, count);
  return { perSecond: count / ((recorded - until) / 1000), ...usage?.(count) };
}

/**
 * Waits until nothing is owed, then checks that each delivery is recorded once, with its attempt.
 * @returns when the last one was recorded
 */
export async function untilRecorded(deployment, workspaces, since, count) {
  const giveUpAt = performance.now() + RECORDED_WITHIN_MS;
  const ids = workspaces.map(({ id }) => id);
  const isOwed = async () => {
    const [{ owed }] = await deployment.query(
      `SELECT EXISTS (SELECT FROM event_queue WHERE tenant_id = ANY ($1))
           OR EXISTS (SELECT FROM pending_deliveries WHERE tenant_id = ANY ($1)) AS owed`,
      [ids],
    );
    return owed;
  };
  while (performance.now() < giveUpAt && (await isOwed())) await sleep(POLL_MS);
  const [{ rows, succeeded, last }] = await deployment.query(
    `SELECT count(*)::int AS rows, max(finished_at) AS last,
            count(*) FILTER (WHERE status = 'SUCCEEDED' AND attempt_count = 1 AND round = 1 AND status_code = 200)::int
              AS succeeded
     FROM webhook_deliveries WHERE tenant_id = ANY ($1) AND id >= $2`,
    [ids, lowestId(since.getTime())],
  );
  must(
    succeeded === count && rows === count,
    `${succeeded} of ${count} deliveries were recorded, in ${rows} rows`,
  );
  return last;
}
