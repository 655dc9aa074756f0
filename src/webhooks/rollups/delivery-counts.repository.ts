import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Database } from '../../database/database';
import { TEST_TYPES } from '../../outbox/event-catalog';

/** Number of deliveries in each status. */
export type DeliveryCounts = Record<'pending' | 'succeeded' | 'exhausted' | 'cancelled', number>;

interface CountRow {
  status: keyof DeliveryCounts;
  count: number;
}

/** Counts an endpoint's deliveries by status, without tests. */
@Injectable()
export class DeliveryCountsRepository {
  constructor(private readonly database: Database) {}

  /** Counts deliveries of events since a moment, each in its latest round. */
  async countByStatus(tenantId: string, endpointId: string, since: Date): Promise<DeliveryCounts> {
    const counts: DeliveryCounts = { pending: 0, succeeded: 0, exhausted: 0, cancelled: 0 };
    const parameters = [tenantId, endpointId, idFloor(since), TEST_TYPES];
    // Both are read in the order in which a delivery moves, so that none is missed between them.
    const pending = await this.database.query<CountRow>(PENDING, parameters);
    const finished = await this.database.query<CountRow>(FINISHED, parameters);
    for (const { status, count } of [...pending, ...finished]) counts[status] += count;
    return counts;
  }
}

/** Counts pending deliveries. Those of a former activation are counted as cancelled. */
const PENDING = `
  SELECT CASE WHEN w.active AND p.activation = w.activation THEN 'pending' ELSE 'cancelled' END AS status,
         count(*)::integer AS count
  FROM pending_deliveries p JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = p.endpoint_id
  WHERE p.tenant_id = $1 AND p.endpoint_id = $2 AND p.id >= $3 AND p.event_type <> ALL ($4) GROUP BY 1`;

const FINISHED = `
  SELECT lower(d.status) AS status, count(*)::integer AS count FROM webhook_deliveries d
  WHERE d.tenant_id = $1 AND d.endpoint_id = $2 AND d.id >= $3 AND d.event_type <> ALL ($4)
    AND NOT EXISTS (
      SELECT FROM webhook_deliveries l WHERE l.tenant_id = $1 AND l.id = d.id AND l.round > d.round)
    AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = d.id)
  GROUP BY d.status`;
