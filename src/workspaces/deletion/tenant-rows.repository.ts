import { Injectable } from '@nestjs/common';
import { Transaction } from '../../database/transaction';
import { AUDIT_TABLE, TENANT_TABLES, TenantTable } from './tenant-tables';

/** The key of the last row of a step, without its `tenant_id`. */
export type TableCursor = string[];

/** The rows of a workspace, in whatever table. */
@Injectable()
export class TenantRowsRepository {
  /**
   * Deletes the next rows of a workspace from a table, in the order of their keys. Rows that somebody has locked are left:
   * nobody waits. It begins after the last step's rows, because the dead ones before would be read again each time.
   * @returns how many were deleted, and where the next step begins; null after the last
   */
  async deleteStep(
    tx: Transaction,
    tenantId: string,
    { name, key }: TenantTable,
    after: TableCursor | null,
    count: number,
  ): Promise<{ deleted: number; next: TableCursor | null }> {
    const columns = Object.keys(key);
    const listed = columns.join(', ');
    const cursor = Object.values(key).map((type, n) => `($3::text[])[${n + 1}]::${type}`);
    const [step] = await tx.query<{ deleted: number; last: TableCursor | null }>(
      `WITH step AS (
         SELECT ${listed} FROM ${name}
         WHERE tenant_id = $1 AND ${after ? `(${listed}) > (${cursor.join(', ')})` : '$3::text[] IS NULL'}
         ORDER BY ${listed} LIMIT $2 FOR UPDATE SKIP LOCKED
       ), gone AS (
         DELETE FROM ${name} t USING step s
         WHERE t.tenant_id = $1 AND ${columns.map((column) => `t.${column} = s.${column}`).join(' AND ')}
         RETURNING 1
       )
       SELECT (SELECT count(*)::integer FROM gone) AS deleted,
              (SELECT ARRAY[${columns.map((column) => `${column}::text`).join(', ')}] FROM step
               ORDER BY ${columns.map((column) => `step.${column} DESC`).join(', ')} LIMIT 1) AS last`,
      [tenantId, count, after],
    );
    const { deleted, last } = step!;
    return { deleted, next: deleted < count ? null : last };
  }

  /**
   * Whether any table has a row of the workspace. Looks twice: a transaction may have moved a row from a table that was
   * not looked at yet to one that was.
   */
  async areLeft(tx: Transaction, tenantId: string): Promise<boolean> {
    const tables = [...TENANT_TABLES.map(({ name }) => name), AUDIT_TABLE];
    for (const table of [...tables, ...tables]) {
      const rows = await tx.query(`SELECT FROM ${table} WHERE tenant_id = $1 LIMIT 1`, [tenantId]);
      if (rows.length > 0) return true;
    }
    return false;
  }
}
