import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { expectOneRow, workspaceOf, Batch } from '../../database/key-list';
import { InsertedColumn, rowsToInsert } from '../../database/rows-to-insert';
import { Pipelined, Transaction } from '../../database/transaction';
import { OutboxEvent } from '../../outbox/event-queue.repository';
import { QueueFloors, SubQueue } from '../../queue/floors/queue-floors';
import { Target } from '../../queue/targets';
import { isSuspended } from '../../workspaces/suspension';
import type { AttemptError } from '../sending/attempt-outcome';
import { AttemptRecord, Delivery, DeliveryState, takesRecovered } from './delivery';

/**
 * Duration of a lease, longer than an attempt can take. After it, any worker may claim a delivery whose
 * worker was killed.
 */
const LEASE = `interval '20 seconds'`;

/** Time of a delivery that is due before all others of its endpoint. */
export const FIRST = `'epoch'::timestamptz`;

/** Delivery that waits for a slot, a retry or the end of a lease. */
export interface PendingDelivery {
  tenantId: string;
  id: string;
  endpointId: string;
  /** Number of the endpoint's activation that is owed the delivery. */
  activation: number;
  eventId: string;
  eventType: string;
  round: number;
  attemptCount: number;
  recovered: boolean;
  /** HTTP status of the last attempt of this round; null without one. `lastError` is that attempt's error. */
  lastStatusCode: number | null;
  lastError: AttemptError | null;
}

/** Delivery that a recovery makes. */
export type RecoveredDelivery = PendingDelivery & { recoveryId: string };

export type NewRound = Omit<PendingDelivery, 'attemptCount' | 'recovered' | 'lastStatusCode' | 'lastError'>;

export interface ClaimRequest {
  tenantId: string;
  endpointId: string;
  activation: number;
  recovered: boolean;
  count: number;
}

export type ClaimedRow = Pick<
  PendingDelivery,
  'id' | 'endpointId' | 'round' | 'attemptCount' | 'recovered'
> & {
  recoveryId: string | null;
  wasLeased: boolean;
  event: OutboxEvent;
};

/** Columns of every inserted delivery. */
const INSERTED = `tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count, recovered,
  next_attempt_at, last_status_code, last_error`;

/**
 * Returns SQL that locks the deliveries that a request may claim, those that are due before all others first.
 */
const lockDue = (
  request: Record<'tenantId' | 'endpointId' | 'activation' | 'recovered' | 'count' | 'since', string>,
) => {
  const owed = `tenant_id = ${request.tenantId} AND endpoint_id = ${request.endpointId}
      AND activation = ${request.activation} AND recovered = ${request.recovered}`;
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
const claimIn = (batch: Batch) => `
  WITH due AS (${
    batch.spansWorkspaces
      ? `SELECT p.* FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::boolean[], $5::integer[], $7::timestamptz[])
           AS request (tenant_id, endpoint_id, activation, recovered, count, since), LATERAL (${lockDue({
             tenantId: 'request.tenant_id',
             endpointId: 'request.endpoint_id',
             activation: 'request.activation',
             recovered: 'request.recovered',
             count: 'request.count',
             since: 'request.since',
           })}) p`
      : lockDue({
          tenantId: '($1::uuid[])[1]',
          endpointId: '($2::uuid[])[1]',
          activation: '($3::integer[])[1]',
          recovered: '($4::boolean[])[1]',
          count: '($5::integer[])[1]',
          since: '($7::timestamptz[])[1]',
        })
  }), leased AS (
    UPDATE pending_deliveries p SET lease_id = $6, next_attempt_at = now() + ${LEASE} FROM due
    WHERE p.tenant_id = ${workspaceOf('due', '$1', batch)} AND p.id = due.id AND ${expectOneRow('due', 'id')}
    RETURNING p.*, due.lease_id IS NOT NULL AS was_leased
  )
  SELECT l.id, l.endpoint_id AS "endpointId", l.round, l.attempt_count AS "attemptCount", l.recovered,
         l.recovery_id AS "recoveryId", l.was_leased AS "wasLeased", l.event_id AS "eventId", e.tenant_id AS "tenantId", e.type, e.data::text,
         e.sequence, e.created_at AS "createdAt"
  FROM leased l JOIN events e ON e.tenant_id = ${workspaceOf('l', '$1', batch)} AND e.id = l.event_id`;

/**
 * Stores the queue of deliveries, which holds only what is owed. A delivery is inserted when its event finds
 * no slot or its first attempt fails, and deleted when its round is finished. Times are the database's own.
 */
@Injectable()
export class PendingDeliveriesRepository {
  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
  ) {}

  /** Inserts deliveries that are due after a delay. A delivery that is pending already stays as it is. */
  insertPipelined(tx: Transaction, deliveries: (PendingDelivery & { delayMs: number })[]): void {
    for (const { rows, parameters } of rowsToInsert(columnsOf(deliveries), this.database))
      tx.pipeline(
        `INSERT INTO pending_deliveries (${INSERTED}) ${rows} ON CONFLICT (tenant_id, id) DO NOTHING`,
        parameters,
      );
  }

  /**
   * Inserts deliveries of a recovery, as `insertPipelined` does.
   * @returns how many
   */
  async insertRecovered(tx: Transaction, deliveries: RecoveredDelivery[]): Promise<number> {
    const columns = [
      ...columnsOf(deliveries.map((delivery) => ({ ...delivery, delayMs: 0 }))),
      { name: 'recovery_id', type: 'uuid', values: deliveries.map(({ recoveryId }) => recoveryId) },
    ];
    let inserted = 0;
    for (const { rows, parameters } of rowsToInsert(columns, this.database)) {
      const sql = `INSERT INTO pending_deliveries (${INSERTED}, recovery_id) ${rows}
        ON CONFLICT (tenant_id, id) DO NOTHING RETURNING 1`;
      inserted += (await tx.query(sql, parameters)).length;
    }
    return inserted;
  }

  /**
   * Deletes those of the deliveries that a former activation is owed, and that wait to be cancelled.
   * @returns the recovery of each; null for one that no recovery made
   */
  deleteFormer(
    tx: Transaction,
    tenantId: string,
    ids: string[],
    activation: number,
  ): Promise<{ recoveryId: string | null }[]> {
    return tx.query(
      `DELETE FROM pending_deliveries WHERE tenant_id = $1 AND id = ANY ($2) AND activation < $3
       RETURNING recovery_id AS "recoveryId"`,
      [tenantId, ids, activation],
    );
  }

  /** Reports whether a delivery that a recovery made is pending. */
  async hasRecovered(tx: Transaction, tenantId: string, recoveryId: string): Promise<boolean> {
    const rows = await tx.prepared(
      'SELECT FROM pending_deliveries WHERE tenant_id = $1 AND recovery_id = $2 LIMIT 1',
      [tenantId, recoveryId],
    );
    return rows.length > 0;
  }

  /**
   * Makes a delivery due before all others of its endpoint, in a new round. An attempt of an earlier round
   * that is in flight does not count any more. A delivery of a recovery stays one.
   */
  async insertFirst(tx: Transaction, delivery: NewRound): Promise<void> {
    const { tenantId, id, endpointId, activation, eventId, eventType, round } = delivery;
    await tx.query(
      `INSERT INTO pending_deliveries AS p
         (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count, recovered, next_attempt_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 0, false, ${FIRST})
       ON CONFLICT (tenant_id, id) DO UPDATE SET round = p.round + 1, activation = excluded.activation,
         attempt_count = 0, recovered = false, next_attempt_at = excluded.next_attempt_at, lease_id = NULL,
         last_status_code = NULL, last_error = NULL`,
      [tenantId, id, endpointId, activation, eventId, eventType, round],
    );
  }

  /**
   * Makes a delivery that waits for its next attempt due before all others of its endpoint, in the same
   * round.
   * @returns null when it does not wait, or is due so already
   */
  async bringForward(
    tx: Transaction,
    tenantId: string,
    id: string,
    activation: number,
  ): Promise<{ recovered: boolean } | null> {
    const [row] = await tx.query<{ recovered: boolean }>(
      `WITH changed AS (
         UPDATE pending_deliveries SET next_attempt_at = ${FIRST}
         WHERE tenant_id = $1 AND id = $2 AND activation = $3 AND lease_id IS NULL AND next_attempt_at > ${FIRST}
         RETURNING recovered
       ) SELECT recovered FROM changed`,
      [tenantId, id, activation],
    );
    return row ?? null;
  }

  /** Reports whether a target has a delivery that can be claimed now. */
  async hasDue(target: Target): Promise<boolean> {
    const { tenantId, id } = target;
    const recovered = takesRecovered(target);
    const owed = `SELECT FROM pending_deliveries p
      WHERE p.tenant_id = $1 AND p.endpoint_id = $2 AND p.activation = w.activation AND p.recovered = $3`;
    const [row] = await this.database.readInOrder<{ due: boolean }>(
      `SELECT EXISTS (
         SELECT FROM webhook_endpoints w, LATERAL (
           (${owed} AND p.next_attempt_at <= ${FIRST} ORDER BY p.next_attempt_at LIMIT 1)
           UNION ALL
           (${owed} AND p.next_attempt_at > $4 AND p.next_attempt_at <= now() ORDER BY p.next_attempt_at LIMIT 1)) AS due
         WHERE w.tenant_id = $1 AND w.id = $2 AND w.active AND NOT ${isSuspended('$1')}) AS due`,
      [tenantId, id, recovered, this.floors.startOfClaim(deliveriesSubQueue(tenantId, id, recovered))],
    );
    return row!.due;
  }

  /**
   * Claims due deliveries under a new lease, up to the count of each request, the longest due first, from the
   * floor of their endpoint.
   */
  async claim(tx: Transaction, requests: ClaimRequest[], leaseId: string): Promise<ClaimedRow[]> {
    const rows = await tx.prepared<Omit<ClaimedRow, 'event'> & { eventId: string } & Omit<OutboxEvent, 'id'>>(
      claimIn(this.database),
      [
        requests.map(({ tenantId }) => tenantId),
        requests.map(({ endpointId }) => endpointId),
        requests.map(({ activation }) => activation),
        requests.map(({ recovered }) => recovered),
        requests.map(({ count }) => count),
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
   * Ends rounds and schedules retries of deliveries whose lease and attempt number still hold.
   * @returns the records of those deliveries: only for these may the transaction record attempts
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
    // The lease is compared too: a late record of an ended lease may be in the same batch.
    const held = new Set(rows.map(({ id, leaseId }) => id + leaseId));
    return records.filter(({ delivery }) => held.has(delivery.id + delivery.lease!.id));
  }

  /** Releases claimed deliveries without an attempt. They are due again after the delay. */
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

  /** Locks a delivery if it is pending, and returns its round; null if it is not. */
  async lockRound(tx: Transaction, tenantId: string, id: string): Promise<number | null> {
    const [row] = await tx.query<{ round: number }>(
      'SELECT round FROM pending_deliveries WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
      [tenantId, id],
    );
    return row?.round ?? null;
  }

  /** Counts the deliveries of a target that can be claimed now, up to a limit. */
  async countDue(target: Target, limit: number): Promise<number> {
    const { tenantId, id } = target;
    const rows = await this.database.query(
      `SELECT FROM pending_deliveries WHERE tenant_id = $1 AND endpoint_id = $2 AND recovered = $3
         AND activation = (SELECT activation FROM webhook_endpoints WHERE tenant_id = $1 AND id = $2)
         AND next_attempt_at <= now() LIMIT $4`,
      [tenantId, id, takesRecovered(target), limit],
    );
    return rows.length;
  }

  /** Returns the activation and round of each of the deliveries that is pending. */
  findRounds(
    reader: Reader,
    tenantId: string,
    ids: string[],
  ): Promise<Pick<PendingDelivery, 'id' | 'activation' | 'round'>[]> {
    return reader.prepared(
      'SELECT id, activation, round FROM pending_deliveries WHERE tenant_id = $1 AND id = ANY ($2)',
      [tenantId, ids],
    );
  }
}

/** Names the sub-queue of an endpoint's live deliveries, or of its recovered ones. */
export function deliveriesSubQueue(tenantId: string, endpointId: string, recovered: boolean): SubQueue {
  return { queue: 'deliveries', tenantId, key: recovered ? `${endpointId}:recovered` : endpointId };
}

/** Outcome of a round that has had no attempt. */
export const NO_FAILURE = { lastStatusCode: null, lastError: null };

function columnsOf(deliveries: (PendingDelivery & { delayMs: number })[]): InsertedColumn[] {
  return [
    { name: 'tenant_id', type: 'uuid', values: deliveries.map(({ tenantId }) => tenantId) },
    { name: 'id', type: 'uuid', values: deliveries.map(({ id }) => id) },
    { name: 'endpoint_id', type: 'uuid', values: deliveries.map(({ endpointId }) => endpointId) },
    { name: 'activation', type: 'integer', values: deliveries.map(({ activation }) => activation) },
    { name: 'event_id', type: 'uuid', values: deliveries.map(({ eventId }) => eventId) },
    { name: 'event_type', type: 'text', values: deliveries.map(({ eventType }) => eventType) },
    { name: 'round', type: 'smallint', values: deliveries.map(({ round }) => round) },
    { name: 'attempt_count', type: 'smallint', values: deliveries.map(({ attemptCount }) => attemptCount) },
    { name: 'recovered', type: 'boolean', values: deliveries.map(({ recovered }) => recovered) },
    {
      name: 'delay_ms',
      type: 'integer',
      values: deliveries.map(({ delayMs }) => delayMs),
      write: (delay) => `now() + ${delay} * interval '1 millisecond'`,
    },
    {
      name: 'last_status_code',
      type: 'smallint',
      values: deliveries.map(({ lastStatusCode }) => lastStatusCode),
    },
    { name: 'last_error', type: 'text', values: deliveries.map(({ lastError }) => lastError) },
  ];
}

export function toPending({
  id,
  event,
  endpoint,
  round,
  attemptCount,
  recovered,
}: DeliveryState): PendingDelivery {
  return {
    tenantId: event.tenantId,
    id,
    endpointId: endpoint.id,
    activation: endpoint.activation,
    eventId: event.id,
    eventType: event.type,
    round,
    attemptCount,
    recovered,
    ...NO_FAILURE,
  };
}
