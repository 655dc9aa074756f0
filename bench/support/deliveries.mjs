import { sleep } from '../../scripts/processes.mjs';
import { must } from './measure.mjs';
import { OUTBOX_CHANNEL } from './settings.mjs';

/** Workspaces with one endpoint each. */
export const ENDPOINTS = 20;
const RECORDED_WITHIN_MS = 10_000;
const POLL_MS = 20;

const busy = ({ fixture }) => fixture.receiving.slice(0, ENDPOINTS);

/** The secrets of the busy endpoints. */
export const secretsOf = (deployment) =>
  Object.fromEntries(busy(deployment).map(({ endpoint }) => [endpoint.id, endpoint.secret]));

/** Appends events to the busy workspaces in turn, and wakes the relay. @returns the database's time afterwards */
async function append(deployment, count) {
  const workspaces = busy(deployment);
  await deployment.query(
    `WITH appended AS (
       SELECT n, w.*, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms
       FROM generate_series(1, $1::int) AS n
       JOIN unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS w (tenant_id, conversation_id, position)
         ON w.position = 1 + n % array_length($2::uuid[], 1)
     ), identified AS (
       SELECT *, (lpad(to_hex(ms), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid AS id FROM appended
     )
     INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
     SELECT tenant_id, id, 'message.created',
            format('{"conversationId":"%s","message":{"id":"%s","body":"%s","senderType":"AGENT","createdAt":"%s"}}',
                   conversation_id, id, 'It is on its way, and should be with you on Tuesday.',
                   to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json,
            n, now()
     FROM identified`,
    [count, workspaces.map(({ id }) => id), workspaces.map(({ conversationIds }) => conversationIds[0])],
  );
  const [{ now }] = await deployment.query('SELECT clock_timestamp() AS now');
  await deployment.redis.publish(OUTBOX_CHANNEL, '');
  return now;
}

/**
 * Appends events, and waits until the workers have recorded their deliveries.
 * @throws WrongAnswers when a delivery is missing, doubled, wrongly signed or not recorded
 */
export async function deliver(deployment, count) {
  const { receiver } = deployment.environment;
  await receiver.expect(deployment.fixture);
  const since = await append(deployment, count);
  await receiver.take(count);
  const recorded = await untilRecorded(deployment, busy(deployment), since, count);
  return { perSecond: count / ((recorded - since) / 1000) };
}

/** @returns when the last attempt was recorded */
async function untilRecorded(deployment, workspaces, since, count) {
  const giveUpAt = performance.now() + RECORDED_WITHIN_MS;
  for (;;) {
    const [{ succeeded, last }] = await deployment.query(
      `SELECT count(*)::int AS succeeded, max(d.finished_at) AS last
       FROM webhook_deliveries d JOIN webhook_attempts a ON a.tenant_id = d.tenant_id AND a.delivery_id = d.id
       WHERE d.tenant_id = ANY ($1) AND d.finished_at >= $2 AND d.status = 'SUCCEEDED' AND d.attempt_count = 1
         AND a.status_code = 200`,
      [workspaces.map(({ id }) => id), since],
    );
    if (succeeded === count) return last;
    must(performance.now() < giveUpAt, `${succeeded} of ${count} attempts were recorded`);
    await sleep(POLL_MS);
  }
}
