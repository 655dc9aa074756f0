import { Injectable } from '@nestjs/common';
import { Database } from '../../database/database';
import { expectOneRow, listsOf, selectForEach, workspaceOf, writtenOnce } from '../../database/key-list';
import { columnNamesOf, columnsOf, rowsToInsert } from '../../database/rows-to-insert';
import { Pipelined, Transaction } from '../../database/transaction';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { QueueFloors } from '../../queue/floors/queue-floors';
import { Target } from '../../queue/targets';
import { IS_OWED } from '../endpoints/subscription';
import {
  AttemptRecord,
  deliveriesSubQueue,
  Delivery,
  PendingDelivery,
  roundColumns,
  isForRecovered,
} from './delivery';

/** Duration of a lease, longer than an attempt. After it, another worker may claim a killed worker's rows. */
const LEASE = `interval '20 seconds'`;

/** Due time of deliveries that are to be sent before all others of their endpoint. */
export const FIRST = `'epoch'::timestamptz`;

type ClaimRequest = Pick<PendingDelivery, 'tenantId' | 'endpointId' | 'activation' | 'recovered'> & {
  count: number;
};

export type ClaimedRow = Pick<
  PendingDelivery,
  'id' | 'endpointId' | 'round' | 'attemptCount' | 'recovered'
> & {
  recoveryId: string | null;
  automatic: boolean;
  wasLeased: boolean;
  event: OutboxEvent;
};

/**
 * Returns SQL that locks up to `count` due deliveries of one request. Deliveries due at `FIRST` come before
 * those due after `since`. An automatic recovery's delivery is claimed once, so that no event is sent more
 * often than there are rounds.
 * @param request SQL expressions for the request's values
 */
const lockDue = (
  request: Record<'tenant_id' | 'endpoint_id' | 'activation' | 'recovered' | 'count' | 'since', string>,
) => {
  const owed = `tenant_id = ${request.tenant_id} AND endpoint_id = ${request.endpoint_id}
      AND activation = ${request.activation} AND recovered = ${request.recovered}
      AND NOT (automatic AND lease_id IS NOT NULL)`;
  const locked = `ORDER BY next_attempt_at, id LIMIT ${request.count} FOR UPDATE SKIP LOCKED`;
  return `
    SELECT * FROM (
      SELECT tenant_id, id, lease_id FROM pending_deliveries WHERE ${owed} AND next_attempt_at <= ${FIRST} ${locked}
    ) AS first
    UNION ALL
    SELECT * FROM (
      SELECT tenant_id, id, lease_id FROM pending_deliveries
      WHERE ${owed} AND next_attempt_at > ${request.since} AND next_attempt_at <= now() ${locked}
    ) AS others
    LIMIT ${request.count}`;
};
const claimIn = writtenOnce(
  (batch) => `
  WITH due AS (${selectForEach(
    {
      tenant_id: ['uuid', '$1'],
      endpoint_id: ['uuid', '$2'],
      activation: ['integer', '$3'],
      recovered: ['boolean', '$4'],
      count: ['integer', '$5'],
      since: ['timestamptz', '$7'],
    },
    batch,
    lockDue,
  )}), leased AS (
    UPDATE pending_deliveries p SET lease_id = $6, next_attempt_at = now() + ${LEASE} FROM due
    WHERE p.tenant_id = ${workspaceOf('due', '$1', batch)} AND p.id = due.id AND ${expectOneRow('due', 'id')}
    RETURNING p.*, due.lease_id IS NOT NULL AS was_leased
  )
  SELECT l.id, l.endpoint_id AS "endpointId", l.round, l.attempt_count AS "attemptCount", l.recovered,
         l.recovery_id AS "recoveryId", l.automatic, l.was_leased AS "wasLeased", l.event_id AS "eventId", e.tenant_id AS "tenantId", e.type, e.data::text,
         e.sequence, e.created_at AS "createdAt"
  FROM leased l JOIN events e ON e.tenant_id = ${workspaceOf('l', '$1', batch)} AND e.id = l.event_id`,
);

/**
 * Stores the deliveries that are still to be sent. A delivery gets a row when its first attempt finds no slot
 * or fails. The row is deleted when no attempt follows. All times are by the database's clock.
 */
@Injectable()
export class PendingDeliveriesRepository {
  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
  ) {}

  /** Inserts deliveries that become due after `delayMs`. A delivery that has a row keeps it unchanged. */
  insertPipelined(tx: Transaction, deliveries: (PendingDelivery & { delayMs: number })[]): void {
    const columns = [
      ...roundColumns(deliveries),
      ...columnsOf(deliveries, {
        attempt_count: ['smallint', ({ attemptCount }) => attemptCount],
        recovered: ['boolean', ({ recovered }) => recovered],
        last_status_code: ['smallint', ({ lastStatusCode }) => lastStatusCode],
        last_error: ['text', ({ lastError }) => lastError],
      }),
      {
        name: 'next_attempt_at',
        type: 'integer',
        values: deliveries.map(({ delayMs }) => delayMs),
        write: (delay: string) => `now() + ${delay} * interval '1 millisecond'`,
      },
    ];
    for (const { rows, parameters } of rowsToInsert(columns, this.database))
      tx.pipeline(
        `INSERT INTO pending_deliveries (${columnNamesOf(columns)}) ${rows} ON CONFLICT (tenant_id, id) DO NOTHING`,
        parameters,
      );
  }

  /**
   * Claims due deliveries under a new lease: for each request up to its count, those that were due first. It
   * skips due times at which only dead rows are left.
   */
  async claim(tx: Transaction, requests: ClaimRequest[], leaseId: string): Promise<ClaimedRow[]> {
    const rows = await tx.prepared<Omit<ClaimedRow, 'event'> & { eventId: string } & Omit<OutboxEvent, 'id'>>(
      claimIn(this.database),
      [
        ...listsOf(requests, 'tenantId', 'endpointId', 'activation', 'recovered', 'count'),
        leaseId,
        requests.map(({ tenantId, endpointId: id, recovered }) =>
          this.floors.startOfClaim(deliveriesSubQueue(tenantId, id, recovered)),
        ),
      ],
    );
    return rows.map(({ eventId, tenantId, type, data, sequence, createdAt, ...row }) => ({
      ...row,
      event: { id: eventId, tenantId, type, data, sequence, createdAt },
    }));
  }

  /**
   * Deletes the rows of finished deliveries and schedules retries. It ignores a record if the lease has ended
   * or the delivery has changed since the claim.
   * @returns the records that were not ignored: the transaction may store only these attempts
   */
  async settle(tx: Transaction, records: AttemptRecord[]): Promise<AttemptRecord[]> {
    const rows = await tx.prepared<{ id: string; leaseId: string }>(
      `WITH outcome AS (
         SELECT tenant_id, id, lease_id, round, attempt_count, next_count,
                now() + delay_ms * interval '1 millisecond' AS due_at, status_code, error
         FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::smallint[], $5::smallint[], $6::smallint[], $7::integer[],
                     $8::smallint[], $9::text[])
           AS o (tenant_id, id, lease_id, round, attempt_count, next_count, delay_ms, status_code, error)
       ), finished AS (
         DELETE FROM pending_deliveries p USING outcome o
         WHERE p.tenant_id = ${workspaceOf('o', '$1', this.database)} AND p.id = o.id AND p.lease_id = o.lease_id AND p.round = o.round
           AND p.attempt_count = o.attempt_count AND o.due_at IS NULL AND ${expectOneRow('o', 'id')}
         RETURNING o.id, o.lease_id
       ), scheduled AS (
         UPDATE pending_deliveries p SET attempt_count = o.next_count, next_attempt_at = o.due_at, lease_id = NULL,
           last_status_code = CASE WHEN o.error IS NULL THEN p.last_status_code ELSE o.status_code END,
           last_error = coalesce(o.error, p.last_error)
         FROM outcome o
         WHERE p.tenant_id = ${workspaceOf('o', '$1', this.database)} AND p.id = o.id AND p.lease_id = o.lease_id AND p.round = o.round
           AND p.attempt_count = o.attempt_count AND o.due_at IS NOT NULL AND ${expectOneRow('o', 'id')}
         RETURNING o.id, o.lease_id
       )
       SELECT id, lease_id AS "leaseId" FROM finished UNION ALL SELECT id, lease_id FROM scheduled`,
      [
        records.map(({ delivery }) => delivery.endpoint.tenantId),
        records.map(({ delivery }) => delivery.id),
        records.map(({ delivery }) => delivery.lease!.id),
        records.map(({ delivery }) => delivery.round),
        records.map(({ delivery }) => delivery.attemptCount),
        records.map(({ delivery, outcome }) => delivery.attemptCount + (outcome ? 1 : 0)),
        records.map(({ retryDelayMs }) => retryDelayMs),
        records.map(({ outcome }) => outcome?.statusCode ?? null),
        records.map(({ outcome }) => outcome?.error ?? null),
      ],
    );
    // The lease is compared, because a batch may have two records of one delivery, under different leases.
    const held = new Set(rows.map(({ id, leaseId }) => id + leaseId));
    return records.filter(({ delivery }) => held.has(delivery.id + delivery.lease!.id));
  }

  /** Releases claimed deliveries without an attempt. They become due again after `delayMs`. */
  postponePipelined(tx: Transaction, deliveries: Delivery[], leaseId: string, delayMs: number): Pipelined {
    return tx.pipeline(
      `UPDATE pending_deliveries p SET next_attempt_at = now() + $4::integer * interval '1 millisecond',
         lease_id = NULL
       FROM unnest($1::uuid[], $2::uuid[]) AS d (tenant_id, id)
       WHERE p.tenant_id = ${workspaceOf('d', '$1', this.database)} AND p.id = d.id AND p.lease_id = $3
         AND ${expectOneRow('d', 'id')}`,
      [deliveries.map(({ endpoint }) => endpoint.tenantId), deliveries.map(({ id }) => id), leaseId, delayMs],
    );
  }

  /** Has `PendingCanceller` cancel deliveries whose endpoint was deactivated or lacks their event type. */
  cancelUnowedPipelined(tx: Transaction, deliveries: PendingDelivery[]): Pipelined {
    return tx.pipeline(
      `INSERT INTO pending_cancellations (tenant_id, endpoint_id, activation)
       SELECT DISTINCT w.tenant_id, p.endpoint_id, p.activation
       FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[]) AS p (tenant_id, endpoint_id, activation, event_type)
       JOIN webhook_endpoints w ON w.tenant_id = ${workspaceOf('p', '$1', this.database)} AND w.id = p.endpoint_id
       WHERE NOT ${IS_OWED} ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`,
      listsOf(deliveries, 'tenantId', 'endpointId', 'activation', 'eventType'),
    );
  }

  async countDue(target: Target, limit: number): Promise<number> {
    const { tenantId, id } = target;
    const rows = await this.database.query(
      `SELECT FROM pending_deliveries WHERE tenant_id = $1 AND endpoint_id = $2 AND recovered = $3
         AND activation = (SELECT activation FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2)
         AND next_attempt_at <= now() LIMIT $4`,
      [tenantId, id, isForRecovered(target), limit],
    );
    return rows.length;
  }
}
