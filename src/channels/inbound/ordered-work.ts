import { groupBy } from '../../common/group-by';

/**
 * Processes groups of items concurrently, but the items of one group in the given order. Items with a common
 * key are in one group. So are two items that share keys with a third.
 * @param width number of groups that are processed concurrently
 */
export async function workInOrder<T>(
  items: T[],
  keysOf: (item: T) => [string, ...string[]],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const groupOf = joinKeys(items.map(keysOf));
  // All workers share one iterator, so each group is processed by only one worker.
  const remaining = groupBy(items, (item) => groupOf(keysOf(item)[0])).values();
  const worker = async () => {
    for (const group of remaining) for (const item of group) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/**
 * Returns a function that names a key's group. All keys of a set are in one group, and so are all keys of two
 * sets that have a key in common.
 */
function joinKeys(sets: string[][]): (key: string) => string {
  const leads = new Map<string, string>();
  const groupOf = (key: string): string => {
    const next = leads.get(key);
    if (next === undefined) return key;
    const group = groupOf(next);
    leads.set(key, group);
    return group;
  };
  for (const [first, ...others] of sets)
    for (const other of others) {
      const [from, to] = [groupOf(other), groupOf(first!)];
      if (from !== to) leads.set(from, to);
    }
  return groupOf;
}
