import { Batch } from './key-list';

/** A column of rows that are inserted together, with a value for each row. */
export interface ListedColumn {
  name: string;
  /** SQL type of the values. */
  type: string;
  values: unknown[];
  /** Returns SQL that is inserted instead of a value. */
  write?: (value: string) => string;
}

/** A column of rows that are inserted together: listed values, or SQL for the value of every row. */
export type InsertedColumn = ListedColumn | { name: string; sql: string };

/** A part of the rows, as it stands in an INSERT behind the columns, and the parameters of that statement. */
export interface RowsToInsert {
  rows: string;
  parameters: unknown[];
}

/** Returns the columns of rows by their names, each with its SQL type and its value in a row. */
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

/** Returns the columns' names, as they stand in an INSERT. */
export function columnNamesOf(columns: { name: string }[]): string {
  return columns.map(({ name }) => name).join(', ');
}

/**
 * Returns the rows of one INSERT, or of several. On one server one statement takes each column as a list, so
 * that one text serves any number of rows. Several nodes get rows as values: a coordinator would make rows of
 * lists itself, and lose the code of an error. Such a statement has 1, 2, 4, ... rows, so that there are few
 * texts to prepare.
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

/** Returns the SQL of a column's value: the column's `write` of the value, or its own SQL. */
function written(column: InsertedColumn, value: string): string {
  return isListed(column) ? (column.write?.(value) ?? value) : column.sql;
}
