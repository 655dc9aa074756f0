import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { boundedCount, MAX_COUNTED } from '../../database/bounded-count';
import { Database } from '../../database/database';
import { TEST_TYPES } from '../../outbox/event-catalog';
import { IS_OWED } from '../endpoints/subscription';
import { DeliveryTotals } from './attempt-rollups.repository';

/** Deliveries to all endpoints of a workspace that ended in one part of a period. */
export interface WebhookDayBucket extends Omit<DeliveryTotals, 'endpointId'> {
  from: Date;
}

/**
 * Number of an endpoint's pending deliveries that a count looks at. Deliveries of types that were taken out
 * of its subscription do not count, and are cancelled in the background.
 */
const MOST_LOOKED_AT = 10_000;

/** Counts the deliveries to all endpoints of a workspace: the ones that wait, and the ones of a day. */
@Injectable()
export class WebhookDayRepository {
  constructor(private readonly database: Database) {}

  /**
   * Counts the deliveries that active endpoints are owed, and the deliveries of events since a moment that
   * were given up, each in its latest round; both up to 1,001. If more rounds were given up, only the newest
   * ones of each endpoint are looked at.
   */
  countDeliveries(tenantId: string, since: Date): Promise<{ pending: number; exhausted: number }> {
    // Both are read in the order in which a delivery moves, so that none is missed between them.
    return this.database.queueTransaction(async (tx) => {
      const [pending] = await tx.prepared<{ count: number }>(PENDING, [tenantId, TEST_TYPES]);
      const given = [tenantId, TEST_TYPES, idFloor(since)];
      const [exhausted] = await tx.prepared<{ count: number }>(EXHAUSTED, given);
      return { pending: pending!.count, exhausted: exhausted!.count };
    });
  }

  /** Sums the deliveries since a moment by parts of `bucketMs`, oldest first, without empty parts. */
  sumDeliveries(tenantId: string, since: Date, bucketMs: number): Promise<WebhookDayBucket[]> {
    return this.database.prepared(DELIVERIES, [tenantId, since, `${bucketMs} milliseconds`]);
  }
}

const PENDING = boundedCount(`
  SELECT FROM (
    SELECT ${IS_OWED} AND p.event_type <> ALL ($2) AS counts
    FROM webhook_endpoints w, LATERAL (
      SELECT activation, event_type FROM pending_deliveries
      WHERE tenant_id = $1 AND endpoint_id = w.id AND activation = w.activation
      ORDER BY recovered, next_attempt_at, id LIMIT ${MOST_LOOKED_AT}) AS p
    WHERE w.tenant_id = $1 AND w.active LIMIT ${2 * MOST_LOOKED_AT}) AS looked
  WHERE counts`);

/** OFFSET 0 keeps PostgreSQL from a join, for which it would read all that is pending in the workspace. */
const EXHAUSTED = `
  SELECT count(*)::integer AS count
  FROM (
    SELECT d.id, d.round FROM webhook_endpoints w, LATERAL (
      SELECT id, round FROM webhook_deliveries
      WHERE tenant_id = $1 AND endpoint_id = w.id AND status = 'EXHAUSTED' AND id >= $3 AND event_type <> ALL ($2)
      ORDER BY id DESC LIMIT ${MAX_COUNTED + 1}) AS d
    WHERE w.tenant_id = $1 AND w.deleted_at IS NULL LIMIT ${MAX_COUNTED + 1}) AS d
  WHERE NOT EXISTS (
      SELECT FROM webhook_deliveries l WHERE l.tenant_id = $1 AND l.id = d.id AND l.round > d.round OFFSET 0)
    AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = d.id OFFSET 0)`;

/** Each endpoint's rollups are read by their key, which is compared as `AttemptRollupsRepository` does. */
const DELIVERIES = `
  SELECT part."from", sum(part.succeeded)::integer AS succeeded, sum(part.late)::integer AS late,
         sum(part.exhausted)::integer AS exhausted
  FROM webhook_endpoints w, LATERAL (
    SELECT date_bin($3::interval, r.starts_at, $2) AS "from", sum(r.outcomes[1]) AS succeeded,
           sum(r.late) AS late, sum(r.exhausted) AS exhausted
    FROM attempt_rollups r
    WHERE r.tenant_id = $1 AND r.endpoint_id = w.id
      AND (r.tenant_id, r.endpoint_id, r.starts_at) >= ($1, w.id, $2) GROUP BY 1) AS part
  WHERE w.tenant_id = $1 AND w.deleted_at IS NULL GROUP BY 1 ORDER BY 1`;
