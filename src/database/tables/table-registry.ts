import { Injectable } from '@nestjs/common';
import { CleanUp, Erasure, Export, HistoryUse, isNeeded, TableDeclaration } from './table-declaration';
import { SecretColumn } from './table-rows.repository';

/** Stores the table declarations of all loaded features. Each feature's module registers its own. */
@Injectable()
export class TableRegistry {
  private readonly tables = new Map<string, TableDeclaration>();

  /**
   * Registers tables.
   * @throws Error when a table is registered twice: only one folder may write a table
   */
  register(...tables: TableDeclaration[]): void {
    for (const table of tables) {
      if (this.tables.has(table.name)) throw new Error(`The table ${table.name} is registered twice`);
      this.tables.set(table.name, table);
    }
  }

  list(): TableDeclaration[] {
    return [...this.tables.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Lists the tables whose rows are deleted with a workspace. A table comes before the tables to which its
   * rows refer. The order depends only on the declarations, so that any process can continue a deletion that
   * another one began.
   */
  listForDeletion(): TableDeclaration[] {
    const ordered: TableDeclaration[] = [];
    const open = new Set<string>();
    const visit = (table: TableDeclaration): void => {
      if (ordered.includes(table)) return;
      if (open.has(table.name)) throw new Error(`The table ${table.name} refers to itself over others`);
      open.add(table.name);
      for (const later of this.listLater(table)) visit(later);
      ordered.push(table);
    };
    for (const table of this.list().reverse()) visit(table);
    return ordered.reverse().filter(({ deletion }) => isNeeded(deletion));
  }

  /** Lists the erasures of all tables, in the order of `listForDeletion`. */
  listErasures(): Erasure[] {
    return this.listForDeletion()
      .map(({ erasure }) => erasure)
      .filter(isNeeded);
  }

  /**
   * Lists the exports of all tables. An export comes after the exports of tables to which its rows refer: a
   * contact first, a message after its conversation.
   */
  listExports(): Export[] {
    return this.listForDeletion()
      .reverse()
      .map((table) => table.export)
      .filter(isNeeded);
  }

  /** Lists the tables whose rows are deleted for their age, sorted by name. */
  listCleanUps(): { table: TableDeclaration; cleanUp: CleanUp }[] {
    return this.list().flatMap((table) =>
      isNeeded(table.retention) ? { table, cleanUp: table.retention } : [],
    );
  }

  /**
   * Lists tables whose unfinished work needs old events or deliveries. Work that creates other work comes
   * first.
   */
  listHistoryUses(): { table: string; use: HistoryUse }[] {
    return this.listForDeletion().flatMap(({ name, history }) =>
      history ? { table: name, use: history } : [],
    );
  }

  listSecrets(): SecretColumn[] {
    return this.list().flatMap(({ name, secrets = [] }) =>
      secrets.map((prefix) => ({ table: name, prefix })),
    );
  }

  private listLater({ name, deletion }: TableDeclaration): TableDeclaration[] {
    const before = (isNeeded(deletion) && deletion.before) || [];
    return this.list().filter((other) => {
      const after = (isNeeded(other.deletion) && other.deletion.after) || [];
      return before.includes(other.name) || after.includes(name);
    });
  }
}
