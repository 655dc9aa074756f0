import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { Database } from '../../database/database';
import { savedFirstEvent } from '../floors/queue-floors.repository';

/** Milliseconds after a claim within which its items must start. */
export const START_WITHIN_MS = 1_000;
/** Milliseconds after which no item of a claim starts, even if its worker paused between check and start. */
const NONE_STARTS_AFTER_MS = START_WITHIN_MS + 100;
const LOOK_EVERY_MS = 50;
/** Largest number of rows of one queue that a look reads. If there are more, some may be leased. */
const MOST_READ = 1_000;

const UNENDED = 'tenant_id = $1 AND next_attempt_at > now()';
const FIRST = `ORDER BY next_attempt_at LIMIT ${MOST_READ}`;
const EVENTS = `
  (SELECT 'events' AS queue, lease_id, lease_until AS ends_at FROM event_queue
   WHERE tenant_id = $1 AND event_id >= (${savedFirstEvent('$1')}) ORDER BY event_id LIMIT ${MOST_READ})`;
const DELIVERIES = `
  (SELECT w.id::text || r.recovered, d.lease_id, d.next_attempt_at
   FROM webhook_endpoints w CROSS JOIN (VALUES (true), (false)) AS r (recovered), LATERAL (
     SELECT lease_id, next_attempt_at FROM pending_deliveries
     WHERE ${UNENDED} AND endpoint_id = w.id AND activation = w.activation AND recovered = r.recovered ${FIRST}) d
   WHERE w.tenant_id = $1 AND (w.id = ANY ($2) OR $2 IS NULL AND w.active))`;
const MESSAGES = `
  (SELECT w.id::text, d.lease_id, d.next_attempt_at
   FROM channel_connections w, LATERAL (
     SELECT lease_id, next_attempt_at FROM outbound_messages
     WHERE ${UNENDED} AND connection_id = w.id AND NOT waits ${FIRST}) d
   WHERE w.tenant_id = $1 AND (w.id = ANY ($2) OR $2 IS NULL AND w.status = 'ACTIVE'))`;

/**
 * Returns SQL that selects the leases of some queues; null stands for a queue of which it could not read all.
 * $1 is the workspace, $2 the endpoints or connections (null for all), $3 the leases to look for (null for
 * all).
 */
const leasesOf = (queues: string) => `
  WITH read (queue, lease_id, ends_at) AS (${queues})
  SELECT DISTINCT lease_id AS id FROM read
  WHERE lease_id IS NOT NULL AND ends_at > now() AND ($3::uuid[] IS NULL OR lease_id = ANY ($3))
  UNION ALL SELECT NULL FROM read GROUP BY queue HAVING count(*) = ${MOST_READ}`;
const LEASES = {
  endpoints: leasesOf(`${EVENTS} UNION ALL ${DELIVERIES}`),
  connections: leasesOf(MESSAGES),
  workspace: leasesOf(`${EVENTS} UNION ALL ${DELIVERIES} UNION ALL ${MESSAGES}`),
};

/**
 * Waits for claims that committed before a change, such as an endpoint's deactivation, so that nothing starts
 * after the wait that the change forbids. The change must lock the rows that a claim locks, so that every
 * claim either has committed before the change or sees it. Call a method after the change's commit.
 *
 * It waits until the claimed items have ended, but not longer than an item may start after its claim. Without
 * a valid lease it does not wait. It holds no connection meanwhile.
 */
@Injectable()
export class RunningClaims {
  constructor(private readonly database: Database) {}

  waitForEndpoints(tenantId: string, ids: string[]): Promise<void> {
    return this.wait('endpoints', tenantId, ids);
  }

  waitForConnection(tenantId: string, id: string): Promise<void> {
    return this.wait('connections', tenantId, [id]);
  }

  waitForWorkspace(tenantId: string): Promise<void> {
    return this.wait('workspace', tenantId, null);
  }

  private async wait(what: keyof typeof LEASES, tenantId: string, ids: string[] | null): Promise<void> {
    const until = performance.now() + NONE_STARTS_AFTER_MS;
    let leases: string[] | null = null;
    for (;;) {
      const found = await this.findLeases(what, tenantId, ids, leases);
      if (found?.length === 0) return;
      const remainingMs = until - performance.now();
      if (remainingMs <= 0) return;
      leases ??= found;
      await sleep(found ? Math.min(LOOK_EVERY_MS, remainingMs) : remainingMs);
    }
  }

  /** Returns the ids of the leases, among `leases` unless it is null. Returns null if they are not known. */
  private async findLeases(
    what: keyof typeof LEASES,
    ...parameters: [tenantId: string, ids: string[] | null, leases: string[] | null]
  ): Promise<string[] | null> {
    try {
      const rows = await this.database.readInOrder<{ id: string | null }>(LEASES[what], parameters);
      const ids = rows.flatMap(({ id }) => id ?? []);
      return ids.length < rows.length ? null : ids;
    } catch {
      // The change is committed. Its answer waits as if there were a lease.
      return null;
    }
  }
}

@Module({ providers: [RunningClaims], exports: [RunningClaims] })
export class RunningClaimsModule {}
