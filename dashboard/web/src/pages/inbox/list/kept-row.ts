/** Returns `items` with `row` put back, above the first item that followed `row` in `before`. */
export function withKeptRow<Row extends { id: string }>(items: Row[], before: Row[], row: Row): Row[] {
  const at = before.findIndex(({ id }) => id === row.id);
  const below = new Set(before.slice(at + 1).map(({ id }) => id));
  const next = items.findIndex(({ id }) => below.has(id));
  return items.toSpliced(next === -1 ? items.length : next, 0, row);
}
