import { Injectable } from '@nestjs/common';
import { isId } from '../common/ids';
import { Database, Reader } from '../database/database';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { DuePosition, positionAfter } from '../queue/polling/due-position';
import { TableCursor } from '../database/tables/table-rows.repository';
import { WorkspaceDeletion } from './workspace-deletion.dto';

const STEP_ROWS = 1_000;

export interface DeletionProgress {
  wasSuspended: boolean;
  /** Time at which the deletion of rows began; null while the deletion can be cancelled. */
  startedAt: Date | null;
  /** Table whose rows are deleted next; null before the first table. */
  table: string | null;
  cursor: TableCursor | null;
}

const PROGRESS = `was_suspended AS "wasSuspended", started_at AS "startedAt", table_name AS "table", cursor`;

const SUMMARY = `
  SELECT d.tenant_id AS "workspaceId", w.slug, CASE WHEN d.started_at IS NULL THEN 'scheduled' ELSE 'running' END AS status,
         d.requested_at AS "requestedAt", d.due_at AS "dueAt", d.started_at AS "startedAt",
         d.deleted_rows::float8 AS "deletedRows", d.table_name AS "table"
  FROM workspace_deletions d JOIN workspaces w ON w.id = d.tenant_id`;

/** Stores scheduled and running deletions of workspaces. All times are by the database's clock. */
@Injectable()
export class WorkspaceDeletionsRepository {
  constructor(private readonly database: Database) {}

  list(): Promise<WorkspaceDeletion[]> {
    return this.database.query(`${SUMMARY} ORDER BY d.due_at, d.tenant_id`);
  }

  async find(tenantId: string, reader: Reader = this.database): Promise<WorkspaceDeletion | null> {
    if (!isId(tenantId)) return null;
    const [row] = await reader.query<WorkspaceDeletion>(`${SUMMARY} WHERE d.tenant_id = $1 AND w.id = $1`, [
      tenantId,
    ]);
    return row ?? null;
  }

  /** Locks a workspace's deletion. The caller must have locked the workspace. */
  async lock(tx: Transaction, tenantId: string): Promise<DeletionProgress | null> {
    const [row] = await tx.query<DeletionProgress>(
      `SELECT ${PROGRESS} FROM workspace_deletions WHERE tenant_id = $1 FOR UPDATE`,
      [tenantId],
    );
    return row ?? null;
  }

  /** Schedules a deletion, or changes the due time of a scheduled one. */
  async schedule(tx: Transaction, tenantId: string, graceDays: number, wasSuspended: boolean): Promise<void> {
    await tx.query(
      `INSERT INTO workspace_deletions (tenant_id, requested_at, due_at, was_suspended)
       VALUES ($1, now(), now() + $2::float8 * interval '1 day', $3)
       ON CONFLICT (tenant_id) DO UPDATE SET requested_at = excluded.requested_at, due_at = excluded.due_at`,
      [tenantId, graceDays, wasSuspended],
    );
  }

  /** Records that the workspace remains suspended if its deletion is cancelled. */
  async keepSuspended(tx: Transaction, tenantId: string): Promise<void> {
    await tx.query('UPDATE workspace_deletions SET was_suspended = true WHERE tenant_id = $1', [tenantId]);
  }

  async delete(tx: Transaction, tenantId: string): Promise<void> {
    await tx.query('DELETE FROM workspace_deletions WHERE tenant_id = $1', [tenantId]);
  }

  /** Lists due deletions on one database server after a position; `next` is null after the last deletion. */
  async findDue(
    after: DuePosition,
    server: WorkspaceServer,
  ): Promise<{ items: { tenantId: string }[]; next: DuePosition | null }> {
    const rows = await server.search<{ tenantId: string; dueAt: string }>(
      `SELECT tenant_id AS "tenantId", due_at::text AS "dueAt" FROM workspace_deletions
       WHERE due_at <= now() AND due_at >= $1::timestamptz ORDER BY due_at LIMIT ${STEP_ROWS} OFFSET $2`,
      after,
      { order: ({ dueAt }) => [dueAt], limit: STEP_ROWS },
    );
    return {
      items: rows.map(({ tenantId }) => ({ tenantId })),
      next: positionAfter(rows, after, STEP_ROWS),
    };
  }

  /** Returns the progress of a deletion; null if the workspace has none that is due. */
  async findProgress(tenantId: string): Promise<DeletionProgress | null> {
    const [row] = await this.database.query<DeletionProgress>(
      `SELECT ${PROGRESS} FROM workspace_deletions WHERE tenant_id = $1 AND due_at <= now()`,
      [tenantId],
    );
    return row ?? null;
  }

  /**
   * Starts a deletion, which cannot be cancelled afterwards.
   * @returns false if the deletion was cancelled, postponed or started meanwhile
   */
  async startDeletion(tenantId: string): Promise<boolean> {
    const rows = await this.database.query(
      `UPDATE workspace_deletions SET started_at = now()
       WHERE tenant_id = $1 AND due_at <= now() AND started_at IS NULL RETURNING 1`,
      [tenantId],
    );
    return rows.length > 0;
  }

  /**
   * Locks a running deletion.
   * @returns its progress; null if another process has locked it, or it has ended
   */
  async lockRunning(tx: Transaction, tenantId: string): Promise<DeletionProgress | null> {
    const [row] = await tx.query<DeletionProgress>(
      `SELECT ${PROGRESS} FROM workspace_deletions WHERE tenant_id = $1 AND started_at IS NOT NULL FOR UPDATE SKIP LOCKED`,
      [tenantId],
    );
    return row ?? null;
  }

  async advance(
    tx: Transaction,
    tenantId: string,
    { table, cursor }: Pick<DeletionProgress, 'table' | 'cursor'>,
    deleted: number,
  ): Promise<void> {
    await tx.query(
      `UPDATE workspace_deletions SET table_name = $2, cursor = $3, deleted_rows = deleted_rows + $4
       WHERE tenant_id = $1`,
      [tenantId, table, cursor, deleted],
    );
  }
}
