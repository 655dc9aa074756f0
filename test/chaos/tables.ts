import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/common/ids';
import { Stores } from './stores';

/** Statements over the service's own tables, which no other file of the suite knows. */

/** Name of a table with a partition for each day, and a default one. */
const PARTITIONED = 'events';
/** Time to wait for a lock: a statement that waits for one holds up all others of the table. */
const LOCK_TIMEOUT = '500ms';
const LOCK_RETRY_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';
const ALREADY_A_PARTITION = '42809';

/**
 * SQL that selects pending deliveries with their status. Those of a former activation have status CANCELLED,
 * because a worker will cancel them.
 */
const PENDING = `
  SELECT p.tenant_id, p.id, CASE WHEN w.active AND w.activation = p.activation THEN 'PENDING' ELSE 'CANCELLED' END AS status
  FROM pending_deliveries p JOIN webhook_endpoints w ON w.tenant_id = p.tenant_id AND w.id = p.endpoint_id`;

const FINISHED = `
  SELECT DISTINCT ON (d.tenant_id, d.id) d.tenant_id, d.id, d.status FROM webhook_deliveries d
  WHERE NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = d.tenant_id AND p.id = d.id)
  ORDER BY d.tenant_id, d.id, d.round DESC`;

/**
 * Counts events that are not processed and deliveries that are not finished. Parked events do not count: they
 * wait for an operator.
 */
export async function pending(stores: Pick<Stores, 'query'>): Promise<number> {
  const [row] = await stores.query<{ count: number }>(
    `SELECT (SELECT count(*) FROM event_queue)::integer
          + (SELECT count(*) FROM (${PENDING}) AS d WHERE status = 'PENDING')::integer AS count`,
  );
  return row!.count;
}

/** Returns the status of the latest round of each delivery. */
export async function deliveriesByStatus(
  stores: Stores,
  workspaceIds: Iterable<string>,
): Promise<Record<string, number>> {
  const rows = await stores.query<{ status: string; count: number }>(
    `SELECT status, count(*)::integer AS count FROM (${PENDING} UNION ALL (${FINISHED})) AS d
     WHERE tenant_id = ANY($1) GROUP BY status ORDER BY status`,
    [[...workspaceIds]],
  );
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Returns the ids of deliveries that have succeeded in any round. */
export async function succeededDeliveries(stores: Stores): Promise<Set<string>> {
  const rows = await stores.query<{ id: string }>(
    `SELECT id FROM webhook_deliveries WHERE status = 'SUCCEEDED'`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** Stores an event that no service makes: its message is an agent's, and the message's id is no UUID. */
export async function storePoisonedEvent(stores: Stores, workspaceId: string): Promise<void> {
  const message = { id: 'poison', body: 'Poison', senderType: 'AGENT', createdAt: new Date() };
  await stores.query(
    `WITH event AS (
       INSERT INTO events (tenant_id, id, type, data, created_at) VALUES ($1, $2, 'message.created', $3, now())
     ) INSERT INTO event_queue (tenant_id, event_id) VALUES ($1, $2)`,
    [workspaceId, newId(), { conversationId: newId(), message }],
  );
}

/** Returns the consumers that could not process events of a workspace, one for each event. */
export async function consumersOfParked(stores: Stores, workspaceId: string): Promise<string[]> {
  const rows = await stores.query<{ consumer: string }>(
    'SELECT consumer FROM parked_events WHERE tenant_id = $1 ORDER BY consumer',
    [workspaceId],
  );
  return rows.map(({ consumer }) => consumer);
}

/**
 * Detaches the partition of the newest rows. New rows go to the default partition.
 * @returns a function that attaches it again, with the rows that belong to it
 */
export async function takePartitionAway(stores: Stores): Promise<() => Promise<void>> {
  const [newest] = await stores.query<{ partition: string; bound: string }>(
    `SELECT p.oid::regclass::text AS partition, pg_get_expr(p.relpartbound, p.oid) AS bound
     FROM pg_class p WHERE p.oid = (SELECT tableoid FROM ${PARTITIONED} ORDER BY id DESC LIMIT 1)`,
  );
  const { partition, bound } = newest!;
  const [, from, to] = /FROM \('(.+)'\) TO \('(.+)'\)/.exec(bound)!;
  await untilLocked(stores, `ALTER TABLE ${PARTITIONED} DETACH PARTITION ${partition}`);
  return () =>
    untilLocked(
      stores,
      `LOCK TABLE ${PARTITIONED} IN ACCESS EXCLUSIVE MODE;
       WITH moved AS (
         DELETE FROM ${PARTITIONED}_default WHERE id >= '${from}' AND id < '${to}' RETURNING *
       ) INSERT INTO ${partition} SELECT * FROM moved;
       ALTER TABLE ${PARTITIONED} ATTACH PARTITION ${partition} ${bound}`,
    ).catch((error: { code?: string }) => {
      // A worker that was started in the meantime has attached it again.
      if (error.code !== ALREADY_A_PARTITION) throw error;
    });
}

/** Runs statements as one transaction, which waits a short time for its locks and is tried again. */
async function untilLocked(stores: Stores, statements: string): Promise<void> {
  for (;;) {
    try {
      await stores.query(`BEGIN; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'; ${statements}; COMMIT`);
      return;
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error;
      await sleep(LOCK_RETRY_MS);
    }
  }
}
