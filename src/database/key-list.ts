/**
 * Returns an SQL condition that is always true, and makes the planner expect one row in a list of keys. The
 * planner then looks up each key in an index of the table that is joined to the list. Otherwise it would read
 * the whole index of a queue, dead rows included, once a vacuum has found few live rows on many pages: 2,300
 * pages for 5 keys among 100,000 dead rows.
 * @param alias of the list
 * @param column a column of the list
 */
export function expectOneRow(alias: string, column: string): string {
  const same = `${alias}.${column} IS NOT DISTINCT FROM ${alias}.${column}`;
  return `${same} AND ${alias}.tenant_id IS NOT DISTINCT FROM ${alias}.tenant_id`;
}

/** Tells whether one batch may hold keys of several workspaces. */
export interface Batch {
  readonly spansWorkspaces: boolean;
}

/**
 * Returns `write` with its texts kept. A text that was put together for each statement cost a busy worker a
 * quarter of its memory allocations, because it was also copied and hashed to find its prepared statement.
 */
export function writtenOnce(write: (batch: Batch) => string): (batch: Batch) => string {
  const texts = new Map<boolean, string>();
  return (batch) => {
    let text = texts.get(batch.spansWorkspaces);
    if (text === undefined) texts.set(batch.spansWorkspaces, (text = write(batch)));
    return text;
  };
}

/**
 * Returns SQL that selects rows for each key of a list. If `spansWorkspaces` is false, the list must have
 * exactly one key.
 * @param columns of the list, each with its SQL type and the parameter, such as `$1`, that holds its values
 * @param select returns the SELECT for one key, of which it receives each column as an SQL expression
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
 * Returns an SQL expression for the workspace id of a key in a list. If a list may hold keys of several
 * workspaces, it is the list's column `tenant_id`. Otherwise it is the first element of the parameter, so
 * that Citus can tell which node has the rows.
 * @param alias of the list
 * @param parameter such as `$1`, which holds the column `tenant_id` of the list
 */
export function workspaceOf(alias: string, parameter: string, { spansWorkspaces }: Batch): string {
  return spansWorkspaces ? `${alias}.tenant_id` : `(${parameter}::uuid[])[1]`;
}

/** Returns, for each key, the list of its values in all rows. SQL turns the lists into rows by `unnest`. */
export function listsOf<Row>(rows: readonly Row[], ...keys: (keyof Row)[]): unknown[][] {
  return keys.map((key) => rows.map((row) => row[key]));
}
