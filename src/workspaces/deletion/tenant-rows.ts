import { Injectable } from '@nestjs/common';
import { AUDIT_TABLE, AuditEntriesRepository } from '../../audit/audit-entries.repository';
import { OwnerDatabase } from '../../database/owner-database';
import { TableRegistry } from '../../database/tables/table-registry';
import { TableCursor, TableRowsRepository } from '../../database/tables/table-rows.repository';
import { Transaction } from '../../database/transaction';

/** Progress of the deletion of a workspace's rows: a table, and the key after which to continue. */
export interface RowsPosition {
  /** Table whose rows are deleted next; null before the first table. */
  table: string | null;
  cursor: TableCursor | null;
}

/**
 * Deletes a workspace's rows, one table after another, `audit_entries` last. WorkspaceDeleter then deletes
 * the rows of the workspace itself, its slug and its deletion.
 */
@Injectable()
export class TenantRows {
  constructor(
    private readonly owner: OwnerDatabase,
    private readonly tables: TableRegistry,
    private readonly rows: TableRowsRepository,
    private readonly auditEntries: AuditEntriesRepository,
  ) {}

  /**
   * Deletes up to `count` rows after a position in any table other than `audit_entries`.
   * @returns the number of deleted rows, and the position at which the next call must continue
   */
  async deleteStep(
    tx: Transaction,
    tenantId: string,
    position: RowsPosition,
    count: number,
  ): Promise<{ deleted: number; next: RowsPosition }> {
    const tables = this.tables.listForDeletion();
    const known = tables.findIndex(({ name }) => name === position.table);
    // A process of another version may have stopped at a table that is unknown here. Then the deletion begins
    // again with the first table.
    const [at, cursor] = known === -1 ? [0, null] : [known, position.cursor];
    const table = tables[at]!;
    // This can take long, because PostgreSQL may have to skip dead rows in tables that refer to this one.
    await tx.allowLongStatements();
    const { deleted, next } = await this.rows.deleteStep(tx, tenantId, table, cursor, count);
    const name = next ? table.name : (tables[at + 1]?.name ?? AUDIT_TABLE);
    return { deleted, next: { table: name, cursor: next } };
  }

  /** Deletes up to `count` audit entries. Returns their number, which is 0 if none was left. */
  deleteAuditEntries(tenantId: string, count: number): Promise<number> {
    return this.auditEntries.deleteStep(this.owner, tenantId, count);
  }

  hasAny(tx: Transaction, tenantId: string): Promise<boolean> {
    const names = [...this.tables.listForDeletion().map(({ name }) => name), AUDIT_TABLE];
    return this.rows.hasRows(tx, tenantId, names);
  }
}
