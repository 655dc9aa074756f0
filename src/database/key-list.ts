/**
 * Returns an SQL condition that is always true, and lets the planner take a list of keys for one row. So it
 * looks up each key in the index of the table that the list is joined to, `alias` being the list and `column`
 * one of its columns. Otherwise it would read the whole index of a queue, dead rows included, once a vacuum
 * has found few live rows on many pages: 2,300 pages for five keys among 100,000 dead rows.
 */
export function expectOneRow(alias: string, column: string): string {
  const same = `${alias}.${column} IS NOT DISTINCT FROM ${alias}.${column}`;
  return `${same} AND ${alias}.tenant_id IS NOT DISTINCT FROM ${alias}.tenant_id`;
}

/** Batch of keys, or a maker of batches: they are of one workspace each, unless `spansWorkspaces` is true. */
export interface Batch {
  readonly spansWorkspaces: boolean;
}

/**
 * Returns SQL that selects rows for each key of a list, or for the one key of a list where a batch is of one
 * workspace.
 * @param columns of the list, each with its SQL type and the parameter that holds it
 * @param select returns SQL that selects the rows of a key, whose columns are given as SQL
 */
export function selectForEach<Name extends string>(
  columns: Record<Name, [type: string, parameter: string]>,
  { spansWorkspaces }: Batch,
  select: (key: Record<Name, string>) => string,
): string {
  const entries = Object.entries<[string, string]>(columns);
  const lists = entries.map(([name, [type, parameter]]) => ({ name, list: `${parameter}::${type}[]` }));
  const keyOf = (write: (column: (typeof lists)[number]) => string) =>
    Object.fromEntries(lists.map((column) => [column.name, write(column)])) as Record<Name, string>;
  if (!spansWorkspaces) return select(keyOf(({ list }) => `(${list})[1]`));
  const names = lists.map(({ name }) => name).join(', ');
  return `SELECT selected.* FROM unnest(${lists.map(({ list }) => list).join(', ')}) AS listed (${names}),
    LATERAL (${select(keyOf(({ name }) => `listed.${name}`))}) AS selected`;
}

/**
 * Returns an SQL expression for the workspace of a list's keys: the column of the list if the keys may be of
 * several workspaces, and else the first element of the parameter that holds the column, from which several
 * nodes know which of them has the rows.
 */
export function workspaceOf(alias: string, parameter: string, { spansWorkspaces }: Batch): string {
  return spansWorkspaces ? `${alias}.tenant_id` : `(${parameter}::uuid[])[1]`;
}

/** Returns a list for each key with its value in every row. A statement makes rows of them by `unnest`. */
export function listsOf<Row>(rows: readonly Row[], ...keys: (keyof Row)[]): unknown[][] {
  return keys.map((key) => rows.map((row) => row[key]));
}
