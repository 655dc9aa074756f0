import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { expectOneRow, listsOf } from '../../database/key-list';
import { WorkspaceServer } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';
import { QueueFloors } from '../../queue/floors/queue-floors';
import { Target } from '../../queue/targets';
import { isSuspended } from '../../workspaces/suspension';
import { IS_OWED } from '../endpoints/subscription';
import { deliveriesSubQueue, targetOf, PendingDelivery } from './delivery';
import { FIRST } from './pending-deliveries.repository';

const STEP_ROWS = 1_000;
const STEP_ENDPOINTS = 1_000;

type Position = [tenantId: string, endpointId: string];
export const BEFORE_ALL_ENDPOINTS: Position = [LOWEST_ID, LOWEST_ID];

const ENDPOINT = `activation, active AND NOT ${isSuspended('e.tenant_id')} AS "maySend", now() AS now`;
const LIST_ENDPOINTS = `
  SELECT tenant_id AS "tenantId", id, ${ENDPOINT}
  FROM webhook_endpoints e WHERE (tenant_id, id) > ($1, $2) ORDER BY tenant_id, id LIMIT ${STEP_ENDPOINTS}`;
/**
 * SQL that lists the next endpoints with pending deliveries, after endpoint ($1, $2). It reads one index
 * entry for each endpoint, however many deliveries the endpoint has.
 */
const LIST_OWED_ENDPOINTS = `
  WITH RECURSIVE owed AS (
    (SELECT tenant_id, endpoint_id, 1 AS n FROM pending_deliveries WHERE (tenant_id, endpoint_id) > ($1, $2)
     ORDER BY tenant_id, endpoint_id LIMIT 1)
    UNION ALL
    SELECT next.*, n + 1 FROM owed, LATERAL (
      SELECT tenant_id, endpoint_id FROM pending_deliveries
      WHERE (tenant_id, endpoint_id) > (owed.tenant_id, owed.endpoint_id)
      ORDER BY tenant_id, endpoint_id LIMIT 1) next
    WHERE n < ${STEP_ENDPOINTS}
  )
  SELECT owed.tenant_id AS "tenantId", endpoint_id AS id, ${ENDPOINT}
  FROM owed LEFT JOIN webhook_endpoints e ON e.tenant_id = owed.tenant_id AND e.id = endpoint_id ORDER BY n`;

/** Place of a delivery in the order in which a cancellation reads them. The next step begins after it. */
export type UnowedPosition = Pick<PendingDelivery, 'activation' | 'recovered' | 'id'> & {
  /** Due time as PostgreSQL's text, because a `Date` has no microseconds. */
  nextAttemptAt: string;
};
export const BEFORE_ALL_UNOWED: UnowedPosition = {
  activation: 0,
  recovered: false,
  nextAttemptAt: '-infinity',
  id: LOWEST_ID,
};

interface UnowedStep {
  deleted: (PendingDelivery & { recoveryId: string | null })[];
  last: UnowedPosition | null;
  /** Number of deliveries that the step has read, deleted or not. */
  seen: number;
}

interface EndpointRow {
  tenantId: string;
  id: string;
  activation: number;
  /** Whether the endpoint is active in a workspace that is not suspended; null if the endpoint has no row. */
  maySend: boolean | null;
  now: Date;
}

interface TargetRow {
  tenantId: string;
  id: string;
  recovered: boolean;
}

/** Finds due deliveries, and deletes deliveries that may not be sent any more, in steps of bounded size. */
@Injectable()
export class DueDeliveriesRepository {
  constructor(private readonly floors: QueueFloors) {}

  /**
   * Searches a server for endpoints with a retry that became due, or a lease that ended, after `since`. One
   * call reads a bounded number of rows. It leaves out suspended workspaces.
   * @returns `until`: due time up to which the call has searched; `isLast`: whether no further row is due
   */
  async findScheduled(
    since: Date,
    server: WorkspaceServer,
  ): Promise<{ targets: Target[]; until: Date; isLast: boolean }> {
    type Row = TargetRow & { at: Date; isSuspended: boolean };
    const rows = await server.search<Row>(
      `SELECT tenant_id AS "tenantId", endpoint_id AS id, recovered, next_attempt_at AS at,
              ${isSuspended('tenant_id')} AS "isSuspended"
       FROM pending_deliveries
       WHERE (attempt_count > 0 OR lease_id IS NOT NULL) AND next_attempt_at > $1 AND next_attempt_at <= now()
       ORDER BY next_attempt_at LIMIT ${STEP_ROWS}`,
      [since],
      { order: ({ at }) => [at], limit: STEP_ROWS, times: ['at'] },
    );
    const targets = rows.filter((row) => !row.isSuspended).map((row) => targetOf(row, row.recovered));
    return { targets, until: rows.at(-1)?.at ?? since, isLast: rows.length < STEP_ROWS };
  }

  /**
   * Searches the next endpoints of a server for due deliveries. It remembers the oldest due time of the live
   * and of the recovered deliveries of each endpoint, so that claims skip dead rows with earlier due times.
   * @returns `next`: endpoint after which the next call begins; null after the last endpoint
   */
  async findDue(
    after: Position,
    server: WorkspaceServer,
  ): Promise<{ targets: Target[]; next: Position | null }> {
    const list = this.floors.areUsed ? LIST_ENDPOINTS : LIST_OWED_ENDPOINTS;
    const endpoints = await server.search<EndpointRow>(list, after, {
      order: ({ tenantId, id }) => [tenantId, id],
      limit: STEP_ENDPOINTS,
      times: ['now'],
    });
    const sending = endpoints.filter(({ maySend }) => maySend);
    const subQueues = sending.flatMap((endpoint) => [
      { ...endpoint, recovered: false },
      { ...endpoint, recovered: true },
    ]);
    const due = await this.findOldest(subQueues, server);
    // If nothing is due, claims may skip rows due before `now`, which was read before the deliveries.
    for (const { tenantId, id, recovered, now } of subQueues)
      this.floors.update(
        deliveriesSubQueue(tenantId, id, recovered),
        due.get(deliveriesSubQueue(tenantId, id, recovered).key)?.oldestAt ?? now,
      );
    const last = endpoints.at(-1);
    return {
      targets: [...due.values()].map((row) => targetOf(row, row.recovered)),
      next: endpoints.length === STEP_ENDPOINTS ? [last!.tenantId, last!.id] : null,
    };
  }

  /**
   * Reads the next `count` deliveries of an endpoint, of this activation and of earlier ones. It deletes
   * those that may not be sent any more, unless an attempt is in flight.
   */
  async deleteUnowed(
    tx: Transaction,
    { tenantId, id }: Target,
    activation: number,
    after: UnowedPosition,
    count: number,
  ): Promise<UnowedStep> {
    type Row = UnowedStep['deleted'][number] & UnowedPosition & { isDeleted: boolean };
    const rows = await tx.prepared<Row>(
      `WITH looked AS (
         SELECT tenant_id, id, activation, recovered, next_attempt_at FROM pending_deliveries
         WHERE tenant_id = $1 AND endpoint_id = $2 AND activation <= $3
           AND (activation, recovered, next_attempt_at, id) > ($5, $6, $7, $8)
         ORDER BY activation, recovered, next_attempt_at, id LIMIT $4
       ), unowed AS (
         SELECT p.tenant_id, p.id FROM looked l JOIN pending_deliveries p ON p.tenant_id = $1 AND p.id = l.id
         LEFT JOIN webhook_endpoints w ON w.tenant_id = $1 AND w.id = $2
         WHERE ${IS_OWED} IS NOT TRUE AND (p.lease_id IS NULL OR p.next_attempt_at <= now())
         FOR UPDATE OF p SKIP LOCKED
       ), deleted AS (
         DELETE FROM pending_deliveries p USING unowed
         WHERE p.tenant_id = $1 AND p.id = unowed.id AND ${expectOneRow('unowed', 'id')} RETURNING p.*
       )
       SELECT l.tenant_id AS "tenantId", l.id, l.activation, l.recovered, l.next_attempt_at::text AS "nextAttemptAt",
              d.id IS NOT NULL AS "isDeleted", $2::uuid AS "endpointId", d.event_id AS "eventId",
              d.event_type AS "eventType", d.round, d.attempt_count AS "attemptCount",
              d.last_status_code AS "lastStatusCode", d.last_error AS "lastError", d.recovery_id AS "recoveryId"
       FROM looked l LEFT JOIN deleted d ON d.id = l.id ORDER BY l.activation, l.recovered, l.next_attempt_at, l.id`,
      [tenantId, id, activation, count, after.activation, after.recovered, after.nextAttemptAt, after.id],
    );
    return {
      deleted: rows.filter(({ isDeleted }) => isDeleted),
      last: rows.at(-1) ?? null,
      seen: rows.length,
    };
  }

  /**
   * Deletes up to `count` pending deliveries of a suspended workspace with ids below `before`. It leaves
   * deliveries with an attempt in flight.
   * @returns the id of the recovery that made each deleted delivery; null if none did
   */
  deleteSuspended(
    tx: Transaction,
    tenantId: string,
    before: string,
    count: number,
  ): Promise<{ recoveryId: string | null }[]> {
    return tx.query(
      `WITH step AS (
         SELECT tenant_id, id FROM pending_deliveries
         WHERE tenant_id = $1 AND id < $2 AND (lease_id IS NULL OR next_attempt_at <= now()) AND ${isSuspended('$1')}
         ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
       )
       DELETE FROM pending_deliveries p USING step
       WHERE p.tenant_id = $1 AND p.id = step.id AND ${expectOneRow('step', 'id')}
       RETURNING p.recovery_id AS "recoveryId"`,
      [tenantId, before, count],
    );
  }

  /**
   * Returns, by key, which endpoints have due deliveries, live or recovered. `oldestAt` is the earliest due
   * time. It is null if a person has put all due deliveries before the others.
   */
  private async findOldest(
    subQueues: (EndpointRow & { recovered: boolean })[],
    server: WorkspaceServer,
  ): Promise<Map<string, TargetRow & { oldestAt: Date | null }>> {
    if (subQueues.length === 0) return new Map();
    const rows = await server.search<TargetRow & { oldestAt: Date | null }>(
      `SELECT e.tenant_id AS "tenantId", e.id, e.recovered, due.at AS "oldestAt"
         FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::boolean[], $5::timestamptz[])
           AS e (tenant_id, id, activation, recovered, since), LATERAL (
           (SELECT next_attempt_at AS at FROM pending_deliveries
            WHERE tenant_id = e.tenant_id AND endpoint_id = e.id AND activation = e.activation AND recovered = e.recovered
              AND next_attempt_at > e.since AND next_attempt_at <= now()
            ORDER BY next_attempt_at LIMIT 1)
           UNION ALL
           (SELECT NULL FROM pending_deliveries
            WHERE tenant_id = e.tenant_id AND endpoint_id = e.id AND activation = e.activation AND recovered = e.recovered
              AND next_attempt_at <= ${FIRST} ORDER BY next_attempt_at LIMIT 1)
           LIMIT 1) due`,
      [
        ...listsOf(subQueues, 'tenantId', 'id', 'activation', 'recovered'),
        subQueues.map(({ tenantId, id, recovered }) =>
          this.floors.startOfSearch(deliveriesSubQueue(tenantId, id, recovered)),
        ),
      ],
      { order: ({ tenantId, id }) => [tenantId, id], times: ['oldestAt'] },
    );
    return new Map(rows.map((row) => [deliveriesSubQueue(row.tenantId, row.id, row.recovered).key, row]));
  }
}
