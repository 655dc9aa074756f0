import type pg from 'pg';
import { withFillingClient } from './filling-client.mts';
import type { Receiving } from './fixture.mts';
import { OLD_BODY } from './settings.mts';

const HOUR_MS = 60 * 60 * 1000;
/**
 * Hours over which the added events are spread. Today's and yesterday's partitions, which exist, hold them.
 */
const EVENTS_HOURS = 12;

/**
 * Adds events of the last twelve hours to a workspace, past the event queue. If `arePending`, it also adds a
 * pending delivery of each to the workspace's first endpoint.
 */
export async function addEvents(
  pool: pg.Pool,
  { id: tenantId, endpoint, conversationIds }: Receiving,
  count: number,
  arePending: boolean,
): Promise<void> {
  await withFillingClient(pool, async (db) => {
    await db.query(
      `CREATE TEMP TABLE added AS
       SELECT n, ms, pg_temp.id_of(ms, n) AS id
       FROM (SELECT n, $1 + n * ${EVENTS_HOURS * HOUR_MS} / $2 AS ms FROM generate_series(1, $2::bigint) AS n) AS times`,
      [Date.now() - EVENTS_HOURS * HOUR_MS, count],
    );
    await db.query(
      `INSERT INTO events (tenant_id, id, type, data, sequence, created_at)
       SELECT $1, id, 'message.created',
              format('{"conversationId":"%s","message":{"id":"%s","body":"%s","senderType":"AGENT","createdAt":"%s"}}',
                     $2::text, id, $3::text,
                     to_char(pg_temp.at(ms) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::json,
              n, pg_temp.at(ms)
       FROM added`,
      [tenantId, conversationIds[0], OLD_BODY],
    );
    if (!arePending) return;
    await db.query(
      `INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round,
                                       attempt_count, recovered, next_attempt_at)
       SELECT $1, overlay(id::text PLACING '8' FROM 15)::uuid, $2, 1, id, 'message.created', 1, 0, false, now()
       FROM added`,
      [tenantId, endpoint.id],
    );
  });
  await pool.query('VACUUM (ANALYZE) events, pending_deliveries');
  await pool.query('CHECKPOINT');
}
