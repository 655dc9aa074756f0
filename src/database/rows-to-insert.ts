import { Batch } from './key-list';

export interface ListedColumn {
  name: string;
  type: string;
  values: unknown[];
  /** Returns the SQL expression to insert instead of the plain value; `value` is the value's own SQL. */
  write?: (value: string) => string;
}

/** Column of the rows that an INSERT adds: with listed values, or with one SQL expression for all rows. */
export type InsertedColumn = ListedColumn | { name: string; sql: string };

/** Part of an INSERT after its column names: SQL for the rows, and the values of its parameters. */
export interface RowsToInsert {
  rows: string;
  parameters: unknown[];
}

/**
 * Returns the columns of the rows that an INSERT adds.
 * @param columns by name: SQL type, and a function that returns the value of a row
 */
export function columnsOf<Row>(
  rows: readonly Row[],
  columns: Record<string, [type: string, valueOf: (row: Row) => unknown]>,
): ListedColumn[] {
  return Object.entries(columns).map(([name, [type, valueOf]]) => ({
    name,
    type,
    values: rows.map(valueOf),
  }));
}

export function columnNamesOf(columns: { name: string }[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/**
 * Returns the part after the column names of one INSERT or of several, which together add all rows. On one
 * server, one statement receives each column as an array, so that one text serves any number of rows. On
 * Citus, the rows are written as VALUES, because the coordinator would turn arrays into rows itself, and lose
 * the code of an error. Such a statement has 1, 2, 4, … rows, so that there are few texts to prepare.
 */
export function rowsToInsert(columns: InsertedColumn[], { spansWorkspaces }: Batch): RowsToInsert[] {
  if (spansWorkspaces) return [fromLists(columns)];
  const count = columns.find(isListed)!.values.length;
  const parts: RowsToInsert[] = [];
  for (let from = 0; from < count;) {
    const to = from + 2 ** Math.floor(Math.log2(count - from));
    parts.push(fromValues(columns, from, to));
    from = to;
  }
  return parts;
}

function fromLists(columns: InsertedColumn[]): RowsToInsert {
  const listed = columns.filter(isListed);
  const lists = listed.map(({ type }, n) => `$${n + 1}::${type}[]`).join(', ');
  const values = columns.map((column) => written(column, column.name)).join(', ');
  return {
    rows: `SELECT ${values} FROM unnest(${lists}) AS inserted (${columnNamesOf(listed)})`,
    parameters: listed.map((column) => column.values),
  };
}

function fromValues(columns: InsertedColumn[], from: number, to: number): RowsToInsert {
  const parameters: unknown[] = [];
  const valueOf = (column: InsertedColumn, row: number) =>
    written(column, isListed(column) ? `$${parameters.push(column.values[row])}::${column.type}` : '');
  const rows = Array.from({ length: to - from }, (_, n) =>
    columns.map((column) => valueOf(column, from + n)).join(', '),
  );
  return { rows: `VALUES (${rows.join('), (')})`, parameters };
}

function isListed(column: InsertedColumn): column is ListedColumn {
  return 'values' in column;
}

function written(column: InsertedColumn, value: string): string {
  return isListed(column) ? (column.write?.(value) ?? value) : column.sql;
}
