import { Injectable } from '@nestjs/common';
import { Database, Reader } from '../../database/database';
import { expectOneRow } from '../../database/key-list';
import { columnNamesOf, columnsOf, rowsToInsert } from '../../database/rows-to-insert';
import { Transaction } from '../../database/transaction';
import { QueueFloors } from '../../queue/floors/queue-floors';
import { Target } from '../../queue/targets';
import { deliveriesSubQueue, NewRound, PendingDelivery, roundColumns } from './delivery';
import { FIRST } from './pending-deliveries.repository';

@Injectable()
export class DeliveryRoundsRepository {
  constructor(
    private readonly database: Database,
    private readonly floors: QueueFloors,
  ) {}

  /** Makes the given deliveries of a recovery pending. Returns how many of them were not pending before. */
  async insertRecovered(
    tx: Transaction,
    rounds: NewRound[],
    recoveryId: string,
    automatic: boolean,
  ): Promise<number> {
    const columns = [
      ...roundColumns(rounds),
      ...columnsOf(rounds, {
        recovery_id: ['uuid', () => recoveryId],
        automatic: ['boolean', () => automatic],
      }),
      { name: 'attempt_count', sql: '0' },
      { name: 'recovered', sql: 'true' },
      { name: 'next_attempt_at', sql: 'now()' },
    ];
    let inserted = 0;
    for (const { rows, parameters } of rowsToInsert(columns, this.database)) {
      const sql = `INSERT INTO pending_deliveries (${columnNamesOf(columns)}) ${rows}
        ON CONFLICT (tenant_id, id) DO NOTHING RETURNING 1`;
      inserted += (await tx.query(sql, parameters)).length;
    }
    return inserted;
  }

  /**
   * Deletes the given deliveries whose activation number is below `activation`.
   * @returns the id of the recovery that made each deleted delivery; null if none did
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

  /**
   * Deletes up to `count` pending deliveries of an automatic recovery that will not be sent: all without an
   * attempt in flight if it `hasEnded`, else only those whose worker was killed during the attempt.
   */
  async takeBack(
    tx: Transaction,
    tenantId: string,
    recoveryId: string,
    hasEnded: boolean,
    count: number,
  ): Promise<PendingDelivery[]> {
    return tx.prepared(
      `WITH taken AS (
         SELECT tenant_id, id FROM pending_deliveries
         WHERE tenant_id = $1 AND recovery_id = $2 AND automatic
           AND ((lease_id IS NULL AND $3) OR (lease_id IS NOT NULL AND next_attempt_at <= now()))
         LIMIT $4 FOR UPDATE SKIP LOCKED
       )
       DELETE FROM pending_deliveries p USING taken
       WHERE p.tenant_id = $1 AND p.id = taken.id AND ${expectOneRow('taken', 'id')}
       RETURNING p.tenant_id AS "tenantId", p.id, p.endpoint_id AS "endpointId", p.activation,
         p.event_id AS "eventId", p.event_type AS "eventType", p.round, p.attempt_count AS "attemptCount",
         p.recovered, p.last_status_code AS "lastStatusCode", p.last_error AS "lastError"`,
      [tenantId, recoveryId, hasEnded, count],
    );
  }

  /** Lists the conversations of an automatic recovery's pending deliveries, at most `limit`. */
  async listConversations(
    tx: Transaction,
    tenantId: string,
    recoveryId: string,
    limit: number,
  ): Promise<string[]> {
    const rows = await tx.prepared<{ conversationId: string }>(
      `SELECT e.data->>'conversationId' AS "conversationId"
       FROM (SELECT event_id FROM pending_deliveries WHERE tenant_id = $1 AND recovery_id = $2 LIMIT $3) p
       JOIN events e ON e.tenant_id = $1 AND e.id = p.event_id WHERE e.data->>'conversationId' IS NOT NULL`,
      [tenantId, recoveryId, limit],
    );
    return rows.map(({ conversationId }) => conversationId);
  }

  async hasRecovered(tx: Transaction, tenantId: string, recoveryId: string): Promise<boolean> {
    const rows = await tx.prepared(
      'SELECT FROM pending_deliveries WHERE tenant_id = $1 AND recovery_id = $2 LIMIT 1',
      [tenantId, recoveryId],
    );
    return rows.length > 0;
  }

  async countRecovered(
    tx: Transaction,
    { tenantId, id }: Target,
    activation: number,
    limit: number,
  ): Promise<number> {
    const since = this.floors.startOfSearch(deliveriesSubQueue(tenantId, id, true));
    const rows = await tx.query(
      `SELECT FROM pending_deliveries
       WHERE tenant_id = $1 AND endpoint_id = $2 AND activation = $3 AND recovered AND next_attempt_at > $5
       ORDER BY next_attempt_at LIMIT $4`,
      [tenantId, id, activation, limit, since],
    );
    return rows.length;
  }

  /**
   * Makes a delivery due before all others of its endpoint, with as many attempts as a new one. If an attempt
   * is in flight, its result will be dropped. A pending delivery that a recovery made still counts for it.
   */
  async insertFirst(tx: Transaction, delivery: NewRound): Promise<void> {
    const { tenantId, id, endpointId, activation, eventId, eventType, round } = delivery;
    await tx.query(
      `INSERT INTO pending_deliveries AS p
         (tenant_id, id, endpoint_id, activation, event_id, event_type, round, attempt_count, recovered, next_attempt_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 0, false, ${FIRST})
       ON CONFLICT (tenant_id, id) DO UPDATE SET round = p.round + 1, activation = excluded.activation,
         attempt_count = 0, recovered = false, automatic = false, next_attempt_at = excluded.next_attempt_at, lease_id = NULL,
         last_status_code = NULL, last_error = NULL`,
      [tenantId, id, endpointId, activation, eventId, eventType, round],
    );
  }

  /**
   * Makes a pending delivery due before all others of its endpoint. Its number of attempts stays the same.
   * @returns null if an attempt is in flight, or the delivery is due before all others already
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

  /** Locks the row of a pending delivery, and returns its round; null if the delivery is not pending. */
  async lockRound(tx: Transaction, tenantId: string, id: string): Promise<number | null> {
    const [row] = await tx.query<{ round: number }>(
      'SELECT round FROM pending_deliveries WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
      [tenantId, id],
    );
    return row?.round ?? null;
  }

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
