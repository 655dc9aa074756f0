import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { boundedCount, MAX_COUNTED } from '../../database/bounded-count';
import { Database } from '../../database/database';
import { TEST_TYPES } from '../../outbox/event-catalog';
import { IS_OWED } from '../endpoints/subscription';
import { DeliveryTotals } from './attempt-rollups.repository';

export interface WebhookDayBucket extends Omit<DeliveryTotals, 'endpointId'> {
  from: Date;
}

/** Largest number of an endpoint's given-up deliveries that are counted for a list of endpoints. */
const MOST_GIVEN_UP = 100;
/** Largest number of an endpoint's pending deliveries that a count reads, even if they will be cancelled. */
const MOST_LOOKED_AT = 10_000;

@Injectable()
export class WebhookDayRepository {
  constructor(private readonly database: Database) {}

  /**
   * Counts the pending deliveries of active endpoints, and the given-up deliveries of events since a time.
   * Each count stops at 1,001.
   */
  countDeliveries(tenantId: string, since: Date): Promise<{ pending: number; exhausted: number }> {
    // Pending deliveries are read first, so that a delivery that ends in between is not missed.
    return this.database.queueTransaction(async (tx) => {
      const [pending] = await tx.prepared<{ count: number }>(PENDING, [tenantId, TEST_TYPES]);
      const given = [tenantId, TEST_TYPES, idFloor(since)];
      const [exhausted] = await tx.prepared<{ count: number }>(EXHAUSTED, given);
      return { pending: pending!.count, exhausted: exhausted!.count };
    });
  }

  /**
   * Counts the given-up deliveries of events since a time that have no later round, by endpoint. Looks at up
   * to 100 of each endpoint, and leaves out endpoints with none.
   */
  async countGivenUp(tenantId: string, endpointIds: string[], since: Date): Promise<Map<string, number>> {
    if (endpointIds.length === 0) return new Map();
    const rows = await this.database.prepared<{ endpointId: string; count: number }>(GIVEN_UP, [
      tenantId,
      TEST_TYPES,
      idFloor(since),
      endpointIds,
    ]);
    return new Map(rows.map(({ endpointId, count }) => [endpointId, count]));
  }

  /** Sums the ended deliveries by periods of `bucketMs` milliseconds, oldest first, without empty ones. */
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

/** Returns SQL of the newest given-up deliveries of an endpoint's events since $3, up to `most`. */
const newestGivenUp = (endpointId: string, most: number) => `
      SELECT id, round FROM webhook_deliveries
      WHERE tenant_id = $1 AND endpoint_id = ${endpointId} AND status = 'EXHAUSTED' AND id >= $3 AND event_type <> ALL ($2)
      ORDER BY id DESC LIMIT ${most}`;

/**
 * SQL condition of a delivery `d` that has no later round. OFFSET 0 prevents a join, for which PostgreSQL
 * would read all pending deliveries of the workspace.
 */
const HAS_ENDED = `NOT EXISTS (
      SELECT FROM webhook_deliveries l WHERE l.tenant_id = $1 AND l.id = d.id AND l.round > d.round OFFSET 0)
    AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = d.id OFFSET 0)`;

const EXHAUSTED = `
  SELECT count(*)::integer AS count
  FROM (
    SELECT d.id, d.round
    FROM webhook_endpoints w, LATERAL (${newestGivenUp('w.id', MAX_COUNTED + 1)}) AS d
    WHERE w.tenant_id = $1 AND w.deleted_at IS NULL LIMIT ${MAX_COUNTED + 1}) AS d
  WHERE ${HAS_ENDED}`;

const GIVEN_UP = `
  SELECT e.id AS "endpointId", count(*)::integer AS count
  FROM unnest($4::uuid[]) AS e (id), LATERAL (${newestGivenUp('e.id', MOST_GIVEN_UP)}) AS d
  WHERE ${HAS_ENDED} GROUP BY e.id`;

/**
 * SQL that sums ended deliveries by period. The key of the rollups is compared as one row, so that PostgreSQL
 * reads each endpoint's rollups by their primary key.
 */
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
