import { Batch } from './key-list';
import { TRANSACTION_START } from './citus/transaction-start';

/** A column of rows that are inserted together. */
export interface InsertedColumn {
  name: string;
  /** SQL type of the values. */
  type: string;
  values: unknown[];
  /** Returns SQL for what is inserted instead of a value. `start` is the time of the transaction. */
  write?: (value: string, start: string) => string;
}

/** A part of the rows, as it stands in an INSERT behind the columns, and the parameters of that statement. */
export interface RowsToInsert {
  rows: string;
  parameters: unknown[];
}

/** Returns the columns' names, as they stand in an INSERT. */
export function columnNamesOf(columns: InsertedColumn[]): string {
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
  const count = columns[0]!.values.length;
  const parts: RowsToInsert[] = [];
  for (let from = 0; from < count;) {
    const to = from + 2 ** Math.floor(Math.log2(count - from));
    parts.push(fromValues(columns.map((column) => ({ ...column, values: column.values.slice(from, to) }))));
    from = to;
  }
  return parts;
}

function fromLists(columns: InsertedColumn[]): RowsToInsert {
  const lists = columns.map(({ type }, n) => `$${n + 1}::${type}[]`).join(', ');
  const start = `$${columns.length + 1}::timestamptz`;
  const values = columns.map(({ name, write }) => write?.(name, start) ?? name).join(', ');
  return withStart(
    start,
    `SELECT ${values} FROM unnest(${lists}) AS inserted (${columnNamesOf(columns)})`,
    columns.map((column) => column.values),
  );
}

function fromValues(columns: InsertedColumn[]): RowsToInsert {
  const count = columns[0]!.values.length;
  const start = `$${count * columns.length + 1}::timestamptz`;
  const rows = Array.from({ length: count }, (_, row) => {
    const values = columns.map(({ type, write }, n) => {
      const value = `$${row * columns.length + n + 1}::${type}`;
      return write?.(value, start) ?? value;
    });
    return `(${values.join(', ')})`;
  });
  const parameters = Array.from({ length: count }, (_, row) => columns.map((column) => column.values[row]));
  return withStart(start, `VALUES ${rows.join(', ')}`, parameters.flat());
}

function withStart(start: string, rows: string, parameters: unknown[]): RowsToInsert {
  return { rows, parameters: rows.includes(start) ? [...parameters, TRANSACTION_START] : parameters };
}
