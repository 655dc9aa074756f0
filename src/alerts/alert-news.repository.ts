import { Injectable } from '@nestjs/common';
import { WorkspaceServer } from '../database/placement/placement';
import { Transaction } from '../database/transaction';
import { DuePosition, positionAfter } from '../queue/polling/due-position';
import { AlertKind, ALERT_KINDS } from './alert-kinds';
import { AlertRow } from './alert.dto';
import { ALERT_COLUMNS } from './alerts.repository';

const STEP_ROWS = 1_000;

export interface OwedAlert {
  tenantId: string;
  id: string;
}

/**
 * Finds the openings and ends of alerts that people are owed, and records that they were told. It leaves
 * alerts of unknown kinds to workers of a later version.
 */
@Injectable()
export class AlertNewsRepository {
  /** Finds up to 1,000 alerts of a database server whose opening or end no worker has taken yet. */
  async findOwed(
    after: DuePosition,
    server: WorkspaceServer,
  ): Promise<{ items: OwedAlert[]; next: DuePosition | null }> {
    const rows = await server.search<OwedAlert & { dueAt: string }>(
      `SELECT tenant_id AS "tenantId", id, owed_at::text AS "dueAt"
       FROM alerts WHERE owed_at IS NOT NULL AND owed_at >= $1::timestamptz AND kind = ANY ($3)
       ORDER BY owed_at LIMIT ${STEP_ROWS} OFFSET $2`,
      [...after, ALERT_KINDS],
      { order: ({ dueAt }) => [dueAt], limit: STEP_ROWS },
    );
    return {
      items: rows.map(({ tenantId, id }) => ({ tenantId, id })),
      next: positionAfter(rows, after, STEP_ROWS),
    };
  }

  /** Takes an owed alert. Returns null if another worker has taken it. */
  async takeOwed(
    tx: Transaction,
    { tenantId, id }: OwedAlert,
  ): Promise<{ kind: AlertKind; resolvedAt: Date | null } | null> {
    const [row] = await tx.query<{ kind: AlertKind; resolvedAt: Date | null }>(
      `UPDATE alerts SET owed_at = NULL WHERE tenant_id = $1 AND id = $2 AND owed_at IS NOT NULL
       RETURNING kind, resolved_at AS "resolvedAt"`,
      [tenantId, id],
    );
    return row ?? null;
  }

  /** Reads alerts by their ids, oldest first. */
  list(tx: Transaction, tenantId: string, ids: string[]): Promise<AlertRow[]> {
    return tx.query<AlertRow>(
      `SELECT ${ALERT_COLUMNS} FROM alerts WHERE tenant_id = $1 AND id = ANY ($2) AND kind = ANY ($3)
       ORDER BY id`,
      [tenantId, ids, ALERT_KINDS],
    );
  }

  /** Records that a mail server has taken a mail about the alerts, unless one was taken before. */
  async setTold(tx: Transaction, tenantId: string, ids: string[]): Promise<void> {
    await tx.query(
      'UPDATE alerts SET told_at = $3 WHERE tenant_id = $1 AND id = ANY ($2) AND told_at IS NULL',
      [tenantId, ids, new Date()],
    );
  }
}
