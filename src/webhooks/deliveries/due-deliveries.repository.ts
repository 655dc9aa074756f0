import { Injectable } from '@nestjs/common';
import { LOWEST_ID } from '../../common/ids';
import { Database } from '../../database/database';
import { Transaction } from '../../database/transaction';
import { Target } from '../../queue/targets';
import { isSuspended } from '../../workspaces/suspension';
import { targetOf } from './delivery';
import { PendingDelivery } from './pending-deliveries.repository';

/** Number of rows that one step of a search over all workspaces reads. */
const STEP_ROWS = 1_000;

/** Position in the order of the pending deliveries. */
type Position = [tenantId: string, endpointId: string, activation: number, recovered: boolean];
export const BEFORE_ALL_DELIVERIES: Position = [LOWEST_ID, LOWEST_ID, 0, false];

interface TargetRow {
  tenantId: string;
  id: string;
  recovered: boolean;
}

/** Finds due and stale deliveries among the pending ones, in steps of a bounded number of rows. */
@Injectable()
export class DueDeliveriesRepository {
  constructor(private readonly database: Database) {}

  /**
   * Makes a step of a search for the targets of retries and leases whose time came after `since`, without
   * those of suspended workspaces.
   * @returns the time up to which they were found
   */
  async findScheduled(since: Date): Promise<{ targets: Target[]; until: Date; isLast: boolean }> {
    type Row = TargetRow & { at: Date; isSuspended: boolean };
    const rows = await this.database.queueTransaction((tx) =>
      tx.prepared<Row>(
        `SELECT tenant_id AS "tenantId", endpoint_id AS id, recovered, next_attempt_at AS at,
              ${isSuspended('tenant_id')} AS "isSuspended"
       FROM pending_deliveries
       WHERE (attempt_count > 0 OR lease_id IS NOT NULL) AND next_attempt_at > $1 AND next_attempt_at <= now()
       ORDER BY next_attempt_at LIMIT ${STEP_ROWS}`,
        [since],
      ),
    );
    const targets = rows.filter((row) => !row.isSuspended).map((row) => targetOf(row, row.recovered));
    return { targets, until: rows.at(-1)?.at ?? since, isLast: rows.length < STEP_ROWS };
  }

  /**
   * Makes a step of a search for targets with a due delivery, in all workspaces that are not suspended. The
   * next step passes over the rest of the last target, however many deliveries it is owed.
   * @returns where the next step begins; null after the last
   */
  async findDue(after: Position): Promise<{ targets: Target[]; next: Position | null }> {
    type Row = TargetRow & { activation: number; isDue: boolean };
    const rows = await this.database.queueTransaction((tx) =>
      tx.prepared<Row>(
        `SELECT tenant_id AS "tenantId", endpoint_id AS id, recovered, activation,
                bool_or(next_attempt_at <= now()) AND NOT ${isSuspended('tenant_id')} AS "isDue"
         FROM (SELECT tenant_id, endpoint_id, activation, recovered, next_attempt_at FROM pending_deliveries
               WHERE (tenant_id, endpoint_id, activation, recovered) > ($1, $2, $3, $4)
               ORDER BY tenant_id, endpoint_id, activation, recovered, next_attempt_at LIMIT ${STEP_ROWS}) AS step
         GROUP BY tenant_id, endpoint_id, activation, recovered ORDER BY tenant_id, endpoint_id, activation, recovered`,
        after,
      ),
    );
    const targets = rows.filter(({ isDue }) => isDue).map((row) => targetOf(row, row.recovered));
    const last = rows.at(-1);
    return { targets, next: last ? [last.tenantId, last.id, last.activation, last.recovered] : null };
  }

  /**
   * Deletes some deliveries of former activations, except those with an attempt in flight.
   * @param activation latest of the former activations
   */
  deleteStale(
    tx: Transaction,
    { tenantId, id }: Target,
    activation: number,
    count: number,
  ): Promise<PendingDelivery[]> {
    return tx.prepared<PendingDelivery>(
      `WITH stale AS (
         SELECT id FROM pending_deliveries
         WHERE tenant_id = $1 AND endpoint_id = $2 AND activation <= $3
           AND (lease_id IS NULL OR next_attempt_at <= now())
         ORDER BY activation, recovered, next_attempt_at, id LIMIT $4 FOR UPDATE SKIP LOCKED
       )
       DELETE FROM pending_deliveries p USING stale WHERE p.tenant_id = $1 AND p.id = stale.id
       RETURNING p.tenant_id AS "tenantId", p.id, p.endpoint_id AS "endpointId", p.activation, p.event_id AS "eventId",
                 p.event_type AS "eventType", p.round, p.attempt_count AS "attemptCount", p.recovered,
                 p.last_status_code AS "lastStatusCode", p.last_error AS "lastError"`,
      [tenantId, id, activation, count],
    );
  }

  /**
   * Deletes deliveries of a suspended workspace that are older than an id, except those with an attempt in
   * flight.
   * @returns how many; 0 when the workspace is not suspended
   */
  async deleteSuspended(tx: Transaction, tenantId: string, before: string, count: number): Promise<number> {
    const rows = await tx.query(
      `WITH step AS (
         SELECT id FROM pending_deliveries
         WHERE tenant_id = $1 AND id < $2 AND (lease_id IS NULL OR next_attempt_at <= now()) AND ${isSuspended('$1')}
         ORDER BY id LIMIT $3 FOR UPDATE SKIP LOCKED
       )
       DELETE FROM pending_deliveries p USING step WHERE p.tenant_id = $1 AND p.id = step.id RETURNING 1`,
      [tenantId, before, count],
    );
    return rows.length;
  }

  /** Counts an endpoint's pending recovered deliveries, up to a limit. */
  async countRecovered(
    tx: Transaction,
    { tenantId, id }: Target,
    activation: number,
    limit: number,
  ): Promise<number> {
    const rows = await tx.query(
      `SELECT FROM pending_deliveries
       WHERE tenant_id = $1 AND endpoint_id = $2 AND activation = $3 AND recovered LIMIT $4`,
      [tenantId, id, activation, limit],
    );
    return rows.length;
  }
}
