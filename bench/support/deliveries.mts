import { channelIn } from '#dist/redis/redis-connections.js';
import { channelOf } from '#dist/redis/worker-shards.js';
import { sleep } from '../../scripts/processes.mjs';
import type { Deployment } from './deployment.mts';
import { lowestId, type Receiving } from './fixture.mts';
import { must } from './measure.mts';
import { BODY, OUTBOX_SIGNAL } from './settings.mts';
import { usageMeter, type Usage } from './usage.mts';

/** Number of busy workspaces, each with one endpoint, to which `deliver` appends events by default. */
export const ENDPOINTS = 20;
const RECORDED_WITHIN_MS = 10_000;
const POLL_MS = 20;
/** Number of wake-up signals in one pipeline to Redis, which bounds its size. */
const SIGNALS_AT_ONCE = 1_000;

const busy = ({ fixture }: Deployment) => fixture.receiving.slice(0, ENDPOINTS);

/** Returns the signing secrets of the busy workspaces' endpoints, by endpoint id. */
export function secretsOf(deployment: Deployment): Record<string, string> {
  return Object.fromEntries(busy(deployment).map(({ endpoint }) => [endpoint.id, endpoint.secret]));
}

/**
 * Appends `count` events to the outbox in one transaction, to the workspaces in turn. Returns the database's
 * time before and after.
 */
export async function append(
  deployment: Deployment,
  workspaces: Receiving[],
  count: number,
): Promise<{ from: Date; until: Date }> {
  const from = await deployment.now();
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
                     conversation_id, id, $4::text,
                     to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json,
              n, now()
       FROM identified
     )
     INSERT INTO event_queue (tenant_id, event_id) SELECT tenant_id, id FROM identified`,
    [
      count,
      workspaces.map(({ id }) => id),
      workspaces.map(({ conversationIds }) => conversationIds[0]),
      BODY,
    ],
  );
  return { from, until: await deployment.now() };
}

/** Signals the relay through Redis that workspaces have new events. */
export async function wake({ redis }: Deployment, workspaces: Receiving[]): Promise<void> {
  for (let n = 0; n < workspaces.length; n += SIGNALS_AT_ONCE) {
    const signals = redis.pipeline();
    for (const { id } of workspaces.slice(n, n + SIGNALS_AT_ONCE))
      signals.publish(channelIn(redis, channelOf(OUTBOX_SIGNAL, id)), JSON.stringify({ tenantId: id }));
    await signals.exec();
  }
}

/** Deliveries a second, and the processor time of each. */
interface Delivered extends Usage {
  perSecond: number;
}

/**
 * Appends events, and waits until the workers have recorded their deliveries. The processor time is that of
 * `worker`.
 *
 * @throws WrongAnswers when a delivery is missing, doubled, wrongly signed or not recorded
 */
export async function deliver(
  deployment: Deployment,
  worker: { pid: number },
  count: number,
  workspaces = busy(deployment),
): Promise<Delivered> {
  const { receiver } = deployment.environment;
  await receiver.expect(workspaces);
  const { from, until } = await append(deployment, workspaces, count);
  const usage = await usageMeter(deployment, worker);
  await wake(deployment, workspaces);
  await receiver.take(count);
  const recordedAt = await untilRecorded(deployment, workspaces, from, count);
  return { perSecond: perSecondBetween(until, recordedAt, count), ...usage(count) };
}

/** Returns the rate of `count` things between two moments, a second. */
export function perSecondBetween(from: Date, until: Date, count: number): number {
  return (count / (until.getTime() - from.getTime())) * 1000;
}

/**
 * Waits until the workspaces have no queued event and no pending delivery. Then checks that each of `count`
 * deliveries is recorded once and succeeded at its first attempt. Returns the time of the last record.
 */
export async function untilRecorded(
  deployment: Deployment,
  workspaces: Receiving[],
  since: Date,
  count: number,
): Promise<Date> {
  const giveUpAt = performance.now() + RECORDED_WITHIN_MS;
  const ids = workspaces.map(({ id }) => id);
  const isOwed = async () => {
    for (const table of ['event_queue', 'pending_deliveries']) {
      const owed = await deployment.query(`SELECT 1 FROM ${table} WHERE tenant_id = ANY ($1) LIMIT 1`, [ids]);
      if (owed.length > 0) return true;
    }
    return false;
  };
  while (performance.now() < giveUpAt && (await isOwed())) await sleep(POLL_MS);
  const { rows, succeeded, last } = await deployment.queryOne<{
    rows: number;
    succeeded: number;
    last: Date;
  }>(
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
