import { groupBy } from '../../common/group-by';

/**
 * Runs work on items concurrently, but on the items of one lane one after the other, in order. Items that
 * share a key are in one lane, and so are all that such items lead to.
 * @param keysOf names an item's keys
 * @param width number of lanes that run concurrently
 */
export async function workInLanes<T>(
  items: T[],
  keysOf: (item: T) => [string, ...string[]],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const laneOf = joinKeys(items.map(keysOf));
  // All workers share one iterator, so each lane has one worker.
  const remaining = groupBy(items, (item) => laneOf(keysOf(item)[0])).values();
  const worker = async () => {
    for (const lane of remaining) for (const item of lane) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** Returns a function that names the lane of a key, which is one for keys that come together. */
function joinKeys(sets: string[][]): (key: string) => string {
  const leads = new Map<string, string>();
  const laneOf = (key: string): string => {
    const next = leads.get(key);
    if (next === undefined) return key;
    const lane = laneOf(next);
    leads.set(key, lane);
    return lane;
  };
  for (const [first, ...others] of sets)
    for (const other of others) {
      const [from, to] = [laneOf(other), laneOf(first!)];
      if (from !== to) leads.set(from, to);
    }
  return laneOf;
}
