/** Groups items by a key. Each group keeps the order of its items. */
export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

export function groupByWorkspace<T extends { tenantId: string }>(items: Iterable<T>): Map<string, T[]> {
  return groupBy(items, ({ tenantId }) => tenantId);
}

/**
 * Splits items into batches of up to `size`, in their order. Each batch is of one workspace, unless
 * `spansWorkspaces` is true.
 */
export function toBatches<T extends { tenantId: string }>(
  items: T[],
  size: number,
  { spansWorkspaces }: { spansWorkspaces: boolean },
): T[][] {
  const groups = spansWorkspaces ? [items] : [...groupByWorkspace(items).values()];
  return groups.flatMap((group) =>
    Array.from({ length: Math.ceil(group.length / size) }, (_, n) => group.slice(n * size, (n + 1) * size)),
  );
}
