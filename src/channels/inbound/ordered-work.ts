import { groupBy } from '../../common/group-by';

/**
 * Runs work on items concurrently, but on the items of one group one after the other, in order. Items that
 * share a key are in one group, and so are all that such items lead to.
 * @param keysOf names an item's keys
 * @param width number of groups that are worked on concurrently
 */
export async function workInOrder<T>(
  items: T[],
  keysOf: (item: T) => [string, ...string[]],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const groupOf = joinKeys(items.map(keysOf));
  // All workers share one iterator, so each group has one worker.
  const remaining = groupBy(items, (item) => groupOf(keysOf(item)[0])).values();
  const worker = async () => {
    for (const group of remaining) for (const item of group) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Returns a function that names the group of a key, which is one for keys that come together. */
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
