import { Injectable } from '@nestjs/common';
import { idFloor } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { TEST_TYPES } from '../../outbox/event-catalog';
import { IS_OWED } from '../endpoints/subscription';
import { AttemptRollupsRepository } from './attempt-rollups.repository';

type Status = 'pending' | 'succeeded' | 'exhausted' | 'cancelled';

export interface DeliveryCounts extends Record<Status, number> {
  /** Number of deliveries that succeeded after a failed attempt or by a redelivery. */
  late: number;
}

interface CountRow {
  status: Status;
  count: number;
  /** Number of rows that were read. `count` leaves out tests, and all but a delivery's latest round. */
  read: number;
}

/** Largest number of rows that one query reads and counts, which takes some 60 ms. */
const MOST_COUNTED = 10_000;
/** Largest number of late, given-up or cancelled deliveries that one query reads and counts. */
const MOST_FAILURES = 1_000;

@Injectable()
export class DeliveryCountsRepository {
  constructor(
    private readonly database: Database,
    private readonly rollups: AttemptRollupsRepository,
  ) {}

  /**
   * Counts up to 10,000 pending deliveries, and the finished deliveries of events since a time by their
   * latest result. If more than 10,000 have finished, `succeeded` is the number of successful attempts, and
   * `exhausted` and `cancelled` count only the newest 1,000 each. `late` always counts only the newest 1,000.
   */
  async countByStatus(tenantId: string, endpointId: string, since: Date): Promise<DeliveryCounts> {
    const parameters = [tenantId, endpointId, idFloor(since), TEST_TYPES];
    const counts: DeliveryCounts = { pending: 0, succeeded: 0, exhausted: 0, cancelled: 0, late: 0 };
    const { rows, late, isComplete } = await this.database.queueTransaction((tx) =>
      this.count(tx, parameters),
    );
    for (const { status, count } of rows) counts[status] += count;
    counts.late = late;
    if (isComplete) return counts;
    const [ended] = await this.rollups.sumDeliveries(tenantId, [endpointId], since);
    return { ...counts, succeeded: ended!.succeeded };
  }

  /** Returns how many deliveries the running cancellations have cancelled so far; null if none runs. */
  async getCancelling(tenantId: string, endpointId: string): Promise<{ cancelled: number } | null> {
    const [row] = await this.database.query<{ cancelled: number | null }>(
      `SELECT sum(cancelled)::float8 AS cancelled FROM pending_cancellations WHERE tenant_id = $1 AND endpoint_id = $2`,
      [tenantId, endpointId],
    );
    return row!.cancelled === null ? null : { cancelled: row!.cancelled };
  }

  private async count(
    tx: Transaction,
    parameters: unknown[],
  ): Promise<{ rows: CountRow[]; late: number; isComplete: boolean }> {
    // Pending deliveries are read first, so that a delivery that ends in between is not missed.
    const pending = await tx.query<CountRow>(PENDING, parameters);
    const all = await tx.query<CountRow>(FINISHED, parameters);
    const isComplete = all.reduce((sum, { read }) => sum + read, 0) < MOST_COUNTED;
    const [{ count: late } = { count: 0 }] = await tx.query<CountRow>(LATE, parameters);
    if (isComplete) return { rows: [...pending, ...all], late, isComplete };
    const exhausted = await tx.query<CountRow>(EXHAUSTED, parameters);
    const cancelled = await tx.query<CountRow>(CANCELLED, parameters);
    return { rows: [...pending, ...exhausted, ...cancelled], late, isComplete };
  }
}

/** SQL that counts pending deliveries. A delivery that may not be sent any more counts as cancelled. */
const PENDING = `
  SELECT CASE WHEN ${IS_OWED} THEN 'pending' ELSE 'cancelled' END AS status,
         count(*)::integer AS count, count(*)::integer AS read
  FROM (
    SELECT id, activation, event_type FROM pending_deliveries
    WHERE tenant_id = $1 AND endpoint_id = $2 LIMIT ${MOST_COUNTED}) AS p
  JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = $2
  WHERE p.event_type <> ALL ($4) AND (p.id >= $3 OR ${IS_OWED}) GROUP BY 1`;

/** Returns SQL that counts deliveries whose latest row is one of the newest `most` under a condition. */
const finished = (condition: string, most: number) => `
  SELECT lower(d.status) AS status, count(*)::integer AS read,
         (count(*) FILTER (WHERE d.event_type <> ALL ($4)
           AND NOT EXISTS (
             SELECT FROM webhook_deliveries l WHERE l.tenant_id = $1 AND l.id = d.id AND l.round > d.round)
           AND NOT EXISTS (SELECT FROM pending_deliveries p WHERE p.tenant_id = $1 AND p.id = d.id)
         ))::integer AS count
  FROM (
    SELECT id, round, status, event_type FROM webhook_deliveries
    WHERE tenant_id = $1 AND endpoint_id = $2 AND id >= $3 AND ${condition}
    ORDER BY id DESC LIMIT ${most}) AS d
  GROUP BY d.status`;

const FINISHED = finished('true', MOST_COUNTED);
const EXHAUSTED = finished(`status = 'EXHAUSTED'`, MOST_FAILURES);
const CANCELLED = finished(`status = 'CANCELLED'`, MOST_FAILURES);
const LATE = finished(`status = 'SUCCEEDED' AND (attempt_count > 1 OR round > 1)`, MOST_FAILURES);
