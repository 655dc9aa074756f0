import { Injectable } from '@nestjs/common';
import { AppError } from '../../common/app-error';
import { idTime, isId } from '../../common/ids';
import { MAX_LIMIT } from '../../common/page';
import { Database } from '../../database/database';
import { WorkspaceServer } from '../../database/placement/placement';
import { Transaction } from '../../database/transaction';
import { IS_WRITING } from '../../database/writing-transactions';
import { isSuspended } from '../../workspaces/suspension';
import { WebhookRecovery } from './webhook-recovery';

export interface RecoveryKey {
  tenantId: string;
  id: string;
}

/** Largest number of old recoveries that are deleted when a new one starts. */
const DELETED_AT_ONCE = 100;
const STEP_ROWS = 1_000;

const COLUMNS = `tenant_id AS "tenantId", id, endpoint_id AS "endpointId", filter, since, until, status, total,
  is_total_complete AS "isTotalComplete", recovered, succeeded, exhausted, cancelled, is_settled AS "isSettled",
  automatic, failed_in_row AS "failedInRow", cursor, started_by AS "startedBy", created_at AS "createdAt", finished_at AS "finishedAt"`;
const BY_ID = `SELECT ${COLUMNS} FROM webhook_recoveries WHERE tenant_id = $1 AND id = $2`;

@Injectable()
export class WebhookRecoveriesRepository {
  constructor(private readonly database: Database) {}

  async get(tenantId: string, id: string): Promise<WebhookRecovery> {
    const [recovery] = isId(id) ? await this.database.query<WebhookRecovery>(BY_ID, [tenantId, id]) : [];
    if (!recovery) throw AppError.notFound('Webhook recovery');
    return recovery;
  }

  listLatest(tenantId: string, endpointId: string, count: number): Promise<WebhookRecovery[]> {
    return this.database.query(
      `SELECT ${COLUMNS} FROM webhook_recoveries WHERE tenant_id = $1 AND endpoint_id = $2
         AND automatic IS DISTINCT FROM 'PROBE' ORDER BY id DESC LIMIT $3`,
      [tenantId, endpointId, count],
    );
  }

  /**
   * Locks a recovery. It waits while a worker holds the lock.
   * @throws AppError NOT_FOUND
   */
  async lock(tx: Transaction, tenantId: string, id: string): Promise<WebhookRecovery> {
    const [recovery] = isId(id)
      ? await tx.query<WebhookRecovery>(`${BY_ID} FOR NO KEY UPDATE`, [tenantId, id])
      : [];
    if (!recovery) throw AppError.notFound('Webhook recovery');
    return recovery;
  }

  /** Inserts a recovery, and deletes the endpoint's recoveries that are too old to be listed. */
  async insert(tx: Transaction, recovery: WebhookRecovery): Promise<void> {
    const { tenantId, id, endpointId, filter, since, until, status, total, isTotalComplete } = recovery;
    const { recovered, succeeded, exhausted, cancelled, isSettled, cursor, startedBy, createdAt } = recovery;
    const { automatic, finishedAt } = recovery;
    await tx.query(
      `INSERT INTO webhook_recoveries (tenant_id, id, endpoint_id, filter, since, until, status, total,
         is_total_complete, recovered, succeeded, exhausted, cancelled, is_settled, cursor, started_by, created_at,
         automatic, finished_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)`,
      [
        ...[tenantId, id, endpointId, filter && JSON.stringify(filter), since, until, status, total],
        ...[isTotalComplete, recovered, succeeded, exhausted, cancelled, isSettled, cursor, startedBy],
        ...[createdAt, automatic, finishedAt],
      ],
    );
    await tx.query(
      `DELETE FROM webhook_recoveries WHERE tenant_id = $1 AND is_settled AND id IN (
         SELECT id FROM webhook_recoveries WHERE tenant_id = $1 AND endpoint_id = $2 ORDER BY id DESC
         LIMIT ${DELETED_AT_ONCE} OFFSET ${MAX_LIMIT})`,
      [tenantId, endpointId],
    );
  }

  /** Returns the next recoveries of a server that are not settled; `next` is null if no more follow. */
  async findUnsettled(
    after: string,
    server: WorkspaceServer,
  ): Promise<{ items: RecoveryKey[]; next: string | null }> {
    const items = await server.search<RecoveryKey>(
      `SELECT tenant_id AS "tenantId", id FROM webhook_recoveries WHERE NOT is_settled AND id > $1
       ORDER BY id LIMIT ${STEP_ROWS}`,
      [after],
      { order: ({ id }) => [id], limit: STEP_ROWS },
    );
    return { items, next: items.length < STEP_ROWS ? null : items.at(-1)!.id };
  }

  /** Locks a recovery. Returns null if it is settled, or another worker has locked it. */
  async lockUnsettled(tx: Transaction, { tenantId, id }: RecoveryKey): Promise<WebhookRecovery | null> {
    const [recovery] = await tx.query<WebhookRecovery>(
      `${BY_ID} AND NOT is_settled FOR NO KEY UPDATE SKIP LOCKED`,
      [tenantId, id],
    );
    return recovery ?? null;
  }

  /**
   * Reports whether a transaction that began before a time (database clock) may still commit an event. It
   * returns false from 10 s after that time on, because no request takes longer.
   */
  async isWriteUnderWay(tx: Transaction, before: Date): Promise<boolean> {
    const rows = await tx.query(
      `SELECT FROM pg_stat_activity
       WHERE ${IS_WRITING} AND xact_start < $1::timestamptz + interval '1 millisecond'
         AND now() < $1::timestamptz + interval '10 seconds'`,
      [before],
    );
    return rows.length > 0;
  }

  async advance(tx: Transaction, recovery: WebhookRecovery): Promise<void> {
    const { tenantId, id, status, recovered, cursor, finishedAt } = recovery;
    const { succeeded, exhausted, cancelled, isSettled, total, isTotalComplete, failedInRow } = recovery;
    await tx.query(
      `UPDATE webhook_recoveries SET status = $3, recovered = $4, succeeded = $5, exhausted = $6, cancelled = $7,
         is_settled = $8, cursor = $9, finished_at = $10, total = $11, is_total_complete = $12, failed_in_row = $13
       WHERE tenant_id = $1 AND id = $2`,
      [
        ...[tenantId, id, status, recovered, succeeded, exhausted, cancelled, isSettled, cursor, finishedAt],
        ...[total, isTotalComplete, failedInRow],
      ],
    );
  }

  async delete(tx: Transaction, { tenantId, id }: RecoveryKey): Promise<void> {
    await tx.query('DELETE FROM webhook_recoveries WHERE tenant_id = $1 AND id = $2', [tenantId, id]);
  }

  /** Reports whether a recovery of the endpoint makes deliveries now. */
  async isRunning(tx: Transaction, tenantId: string, endpointId: string): Promise<boolean> {
    const rows = await tx.query(
      `SELECT FROM webhook_recoveries WHERE tenant_id = $1 AND endpoint_id = $2 AND status = 'RUNNING'`,
      [tenantId, endpointId],
    );
    return rows.length > 0;
  }

  /**
   * Makes the running recoveries of a suspended workspace leave out all events and deliveries older than
   * `next`. A recovery of missed events continues from there. A recovery with a filter, which begins with the
   * newest delivery, ends there.
   * @returns 0, because all recoveries are changed, and no further call is needed
   */
  async passOver(tx: Transaction, tenantId: string, next: string): Promise<number> {
    const running = `tenant_id = $1 AND status = 'RUNNING' AND ${isSuspended('$1')}`;
    await tx.query(
      `UPDATE webhook_recoveries SET cursor = $2 WHERE ${running} AND filter IS NULL AND cursor < $2`,
      [tenantId, next],
    );
    await tx.query(
      `UPDATE webhook_recoveries SET since = $2
       WHERE ${running} AND filter IS NOT NULL AND (since IS NULL OR since < $2)`,
      [tenantId, idTime(next)],
    );
    return 0;
  }
}
