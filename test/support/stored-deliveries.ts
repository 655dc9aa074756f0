import { newId } from '../../src/common/ids';
import { Database } from '../../src/database/database';
import { deliveryIdOf } from '../../src/webhooks/deliveries/delivery';
import {
  BEFORE_ALL_ENDPOINTS,
  DueDeliveriesRepository,
} from '../../src/webhooks/deliveries/due-deliveries.repository';
import { IS_OWED } from '../../src/webhooks/endpoints/subscription';
import { MessagingHost } from './messaging-host';
import { waitFor } from './wait';
import { Identified, Subscription, WebhookHost } from './webhook-workspace';

/** A stored delivery: a pending one, or the latest finished round. */
export interface StoredDelivery {
  id: string;
  event_type: string;
  /** Status of the delivery. A pending one that its endpoint is not owed is CANCELLED, as lists show it. */
  status: 'PENDING' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED';
  round: number;
  attempt_count: number;
  /** Time of the next attempt, or the end of a lease; null once the delivery is finished. */
  next_attempt_at: Date | null;
  lease_id: string | null;
  finished_at: Date | null;
}

/** A stored attempt. */
export interface StoredAttempt {
  delivery_id: string;
  round: number;
  attempt: number;
  attempted_at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  error_message: string | null;
  response: Buffer | null;
}

/** Returns an endpoint's stored deliveries, oldest first. A delivery in its first attempt is not stored. */
export async function deliveriesOf(host: WebhookHost, endpoint: Identified): Promise<StoredDelivery[]> {
  const workspaceId = await workspaceOf(host, endpoint);
  return host.query<StoredDelivery>(
    `SELECT p.id, p.event_type, p.round, p.attempt_count, p.next_attempt_at, p.lease_id, NULL::timestamptz AS finished_at,
            CASE WHEN ${IS_OWED} THEN 'PENDING' ELSE 'CANCELLED' END AS status
     FROM pending_deliveries p JOIN webhook_endpoints w ON w.tenant_id = $2 AND w.id = p.endpoint_id
     WHERE p.tenant_id = $2 AND w.id = $1
     UNION ALL
     SELECT * FROM (
       SELECT DISTINCT ON (d.id) d.id, d.event_type, d.round, d.attempt_count, NULL::timestamptz, NULL::uuid, d.finished_at,
              d.status
       FROM webhook_deliveries d
       WHERE d.tenant_id = $2 AND d.endpoint_id = $1
         AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $2 AND p.id = d.id)
       ORDER BY d.id, d.round DESC) AS finished
     ORDER BY id`,
    [endpoint.id, workspaceId],
  );
}

/** Returns every stored attempt for an endpoint, oldest first. */
export async function attemptsOf(host: WebhookHost, endpoint: Identified): Promise<StoredAttempt[]> {
  const workspaceId = await workspaceOf(host, endpoint);
  const columns = 'attempted_at, duration_ms, status_code, error, error_message, response';
  return host.query<StoredAttempt>(
    `SELECT delivery_id, round, attempt, ${columns} FROM webhook_attempts WHERE tenant_id = $2 AND delivery_id IN (
       SELECT id FROM pending_deliveries WHERE tenant_id = $2 AND endpoint_id = $1
       UNION SELECT id FROM webhook_deliveries WHERE tenant_id = $2 AND endpoint_id = $1)
     UNION ALL
     SELECT id, round, attempt_count, ${columns} FROM webhook_deliveries
     WHERE tenant_id = $2 AND endpoint_id = $1 AND attempted_at IS NOT NULL
     ORDER BY attempted_at`,
    [endpoint.id, workspaceId],
  );
}

/** Returns the id of an endpoint's workspace; null for an endpoint that is not stored. */
async function workspaceOf(host: WebhookHost, { id }: Identified): Promise<string | null> {
  const [row] = await host.query<{ workspaceId: string }>(
    'SELECT tenant_id AS "workspaceId" FROM webhook_endpoints WHERE id = $1',
    [id],
  );
  return row?.workspaceId ?? null;
}

/** Waits until an endpoint has so many attempts. */
export function waitForAttempts(
  host: WebhookHost,
  endpoint: Identified,
  count: number,
  timeoutMs?: number,
): Promise<StoredAttempt[]> {
  return waitFor(
    `${count} attempts`,
    async () => {
      const attempts = await attemptsOf(host, endpoint);
      return attempts.length >= count && attempts;
    },
    timeoutMs,
  ).catch((error: Error) => throwWithState(host, endpoint, error));
}

/** Waits until an endpoint has so many deliveries and all of them have this status. */
export function waitForDeliveries(
  host: WebhookHost,
  endpoint: Identified,
  status: StoredDelivery['status'],
  count = 1,
  timeoutMs?: number,
): Promise<StoredDelivery[]> {
  return waitFor(
    `${count} deliveries that are all ${status}`,
    async () => {
      const rows = await deliveriesOf(host, endpoint);
      return rows.length >= count && rows.every((row) => row.status === status) && rows;
    },
    timeoutMs,
  ).catch((error: Error) => throwWithState(host, endpoint, error));
}

/** Throws an error with the places of the endpoint's deliveries: among events, pending, or in the history. */
async function throwWithState(host: WebhookHost, endpoint: Identified, error: Error): Promise<never> {
  const events = await host.query(
    `SELECT q.* FROM event_queue q JOIN webhook_endpoints w ON w.tenant_id = q.tenant_id WHERE w.id = $1 LIMIT 5`,
    [endpoint.id],
  );
  const deliveries = (await deliveriesOf(host, endpoint)).slice(0, 5);
  throw new Error(`${error.message}: ${JSON.stringify({ now: new Date(), events, deliveries })}`);
}

/**
 * Inserts events and their pending deliveries to an endpoint, as the relay does for events that find no slot.
 */
export async function insertPendingDeliveries(
  host: WebhookHost,
  { workspace, endpoint }: Pick<Subscription, 'workspace' | 'endpoint'>,
  count = 1,
): Promise<void> {
  const eventIds = Array.from({ length: count }, newId);
  await host.query(
    `WITH event AS (
       INSERT INTO events (tenant_id, id, type, data, created_at)
       SELECT $1, id, 'message.created', '{}', now() FROM unnest($2::uuid[]) AS id
     )
     INSERT INTO pending_deliveries (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count,
       recovered, next_attempt_at)
     SELECT $1, d.id, w.id, w.activation, d.event_id, 'message.created', 1, 0, false, now()
     FROM unnest($3::uuid[], $2::uuid[]) AS d (id, event_id), webhook_endpoints w
     WHERE w.tenant_id = $1 AND w.id = $4`,
    [workspace.id, eventIds, eventIds.map((eventId) => deliveryIdOf(eventId, endpoint.id)), endpoint.id],
  );
}

/** Makes the endpoint's deliveries that wait for a retry due now, and wakes the endpoint. */
export async function makeRetriesDue(host: MessagingHost, endpoint: Identified): Promise<void> {
  await host.query(
    'UPDATE pending_deliveries SET next_attempt_at = now() WHERE endpoint_id = $1 AND lease_id IS NULL',
    [endpoint.id],
  );
  await host.wake(endpoint);
}

/** Ends the leases of an endpoint's pending deliveries, as if their worker had been killed. */
export async function endLeases(host: WebhookHost, endpoint: Identified): Promise<void> {
  await host.query(
    `UPDATE pending_deliveries SET next_attempt_at = now() - interval '1 second'
     WHERE endpoint_id = $1 AND lease_id IS NOT NULL`,
    [endpoint.id],
  );
}

/**
 * Ends the leases of a workspace's events whose first attempts are in flight, as if their worker had been
 * killed.
 */
export async function endEventLeases(host: WebhookHost, { id }: Identified): Promise<void> {
  await host.query(
    `UPDATE event_queue SET lease_until = now() - interval '1 second' WHERE tenant_id = $1 AND lease_id IS NOT NULL`,
    [id],
  );
}

/** Returns the ids of the endpoints that a worker's search for due deliveries finds, on all servers. */
export async function findDue({ app }: WebhookHost): Promise<string[]> {
  const found: string[] = [];
  for (const server of await app.get(Database).placement.listServers())
    for (let position: typeof BEFORE_ALL_ENDPOINTS | null = BEFORE_ALL_ENDPOINTS; position !== null;) {
      const repository = app.get(DueDeliveriesRepository);
      const step: Awaited<ReturnType<typeof repository.findDue>> = await repository.findDue(position, server);
      found.push(...step.targets.map(({ id }) => id));
      position = step.next;
    }
  return found;
}

/** Returns the ids of the endpoints with retries and leases whose time came after `since`, on all servers. */
export async function findScheduled({ app }: WebhookHost, since: Date): Promise<string[]> {
  const servers = await app.get(Database).placement.listServers();
  const steps = await Promise.all(
    servers.map((server) => app.get(DueDeliveriesRepository).findScheduled(since, server)),
  );
  return steps.flatMap(({ targets }) => targets.map(({ id }) => id));
}
