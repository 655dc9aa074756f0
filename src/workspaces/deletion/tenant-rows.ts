import { Injectable } from '@nestjs/common';
import { AUDIT_TABLE, AuditEntriesRepository } from '../../audit/audit-entries.repository';
import { OwnerDatabase } from '../../database/owner-database';
import { TableRegistry } from '../../database/tables/table-registry';
import { TableCursor, TableRowsRepository } from '../../database/tables/table-rows.repository';
import { Transaction } from '../../database/transaction';

/** Place in the rows of a workspace: a table, and the key of its row behind which the next step begins. */
export interface RowsPosition {
  /** Table whose rows are deleted next; null before the first. */
  table: string | null;
  cursor: TableCursor | null;
}

/** Rows of a workspace in all tables but its own: table by table, the audit entries last. */
@Injectable()
export class TenantRows {
  constructor(
    private readonly owner: OwnerDatabase,
    private readonly tables: TableRegistry,
    private readonly rows: TableRowsRepository,
    private readonly auditEntries: AuditEntriesRepository,
  ) {}

  /**
   * Deletes up to `count` rows behind a position that is not in the audit entries.
   * @returns how many were deleted, and where the next step begins
   */
  async deleteStep(
    tx: Transaction,
    tenantId: string,
    position: RowsPosition,
    count: number,
  ): Promise<{ deleted: number; next: RowsPosition }> {
    const tables = this.tables.listForDeletion();
    const known = tables.findIndex(({ name }) => name === position.table);
    // Another version may have stopped at a table that this version does not know: then the first table
    // begins again.
    const [at, cursor] = known === -1 ? [0, null] : [known, position.cursor];
    const table = tables[at]!;
    // PostgreSQL may have to pass over many dead rows of a table that refers to this one.
    await tx.allowLongStatements();
    const { deleted, next } = await this.rows.deleteStep(tx, tenantId, table, cursor, count);
    const name = next ? table.name : (tables[at + 1]?.name ?? AUDIT_TABLE);
    return { deleted, next: { table: name, cursor: next } };
  }

  /** Deletes up to `count` audit entries, and returns how many: 0 when none is left. */
  deleteAuditEntries(tenantId: string, count: number): Promise<number> {
    return this.auditEntries.deleteStep(this.owner, tenantId, count);
  }

  /** Reports whether any table has a row of the workspace. */
  hasAny(tx: Transaction, tenantId: string): Promise<boolean> {
    const names = [...this.tables.listForDeletion().map(({ name }) => name), AUDIT_TABLE];
    return this.rows.hasRows(tx, tenantId, names);
  }
}
