/**
 * Returns a list with a row that has left it, above the first row that stood below it before.
 * @param before the list when it had the row
 */
export function withKeptRow<Row extends { id: string }>(items: Row[], before: Row[], row: Row): Row[] {
  const at = before.findIndex(({ id }) => id === row.id);
  const below = new Set(before.slice(at + 1).map(({ id }) => id));
  const next = items.findIndex(({ id }) => below.has(id));
  return items.toSpliced(next === -1 ? items.length : next, 0, row);
}
