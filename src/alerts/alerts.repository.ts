import { Injectable } from '@nestjs/common';
import { Database } from '../database/database';
import { PageStatement } from '../database/page-statement';
import { Transaction } from '../database/transaction';
import { ALERT_KINDS, AlertKind } from './alert-kinds';
import { AlertRow, ListAlertsQuery } from './alert.dto';

/** Most open alerts of a workspace that are counted. */
export const MAX_COUNTED = 100;

/** SQL that selects the columns of an alert. */
export const ALERT_COLUMNS = `id, kind, subject_id AS "subjectId", opened_at AS "openedAt",
  resolved_at AS "resolvedAt", told_at AS "toldAt"`;

export type AlertKey = Pick<AlertRow, 'id' | 'kind' | 'subjectId'>;

@Injectable()
export class AlertsRepository {
  constructor(private readonly database: Database) {}

  /** Inserts an open alert. Returns false if the subject has one of this kind. */
  async insert(
    tx: Transaction,
    tenantId: string,
    { id, kind, subjectId, openedAt }: Omit<AlertRow, 'resolvedAt' | 'toldAt'>,
  ): Promise<boolean> {
    const rows = await tx.query(
      `INSERT INTO alerts (tenant_id, id, kind, subject_id, opened_at, owed_at) VALUES ($1, $2, $3, $4, $5, $5)
       ON CONFLICT (tenant_id, kind, subject_id) WHERE resolved_at IS NULL DO NOTHING RETURNING id`,
      [tenantId, id, kind, subjectId, openedAt],
    );
    return rows.length > 0;
  }

  /** Resolves the open alerts of a subject and some kinds that were opened by a time. Returns them. */
  resolve(
    tx: Transaction,
    tenantId: string,
    kinds: AlertKind[],
    subjectId: string,
    { at, openedBy }: { at: Date; openedBy: Date },
  ): Promise<AlertKey[]> {
    return tx.query<AlertKey>(
      `UPDATE alerts SET resolved_at = $4, owed_at = $4
       WHERE tenant_id = $1 AND kind = ANY ($2) AND subject_id = $3 AND resolved_at IS NULL AND opened_at <= $5
       RETURNING id, kind, subject_id AS "subjectId"`,
      [tenantId, kinds, subjectId, at, openedBy],
    );
  }

  /** Reads a page of alerts, newest first. Leaves out kinds that a later version has stored. */
  list(tenantId: string, { open, cursor }: ListAlertsQuery, count: number): Promise<AlertRow[]> {
    const page = new PageStatement(ALERT_COLUMNS, 'alerts')
      .where('tenant_id = ?', tenantId)
      .where('kind = ANY (?)', ALERT_KINDS);
    if (open !== undefined) page.where(open ? 'resolved_at IS NULL' : 'resolved_at IS NOT NULL');
    return page.read(this.database, cursor, count);
  }

  /** Counts open alerts, up to MAX_COUNTED. */
  async countOpen(tenantId: string): Promise<number> {
    const [row] = await this.database.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM (
         SELECT FROM alerts WHERE tenant_id = $1 AND resolved_at IS NULL AND kind = ANY ($2) LIMIT ${MAX_COUNTED}) AS open`,
      [tenantId, ALERT_KINDS],
    );
    return row!.count;
  }
}
