/**
 * Runs work on items concurrently, but on the items of one lane one after the other, in order.
 * @param laneOf names an item's lane
 * @param width number of lanes that run concurrently
 */
export async function workInLanes<T>(
  items: T[],
  laneOf: (item: T) => string,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const lanes = new Map<string, T[]>();
  for (const item of items) {
    const lane = lanes.get(laneOf(item));
    if (lane) lane.push(item);
    else lanes.set(laneOf(item), [item]);
  }
  // All workers share one iterator, so each lane has one worker.
  const remaining = lanes.values();
  const worker = async () => {
    for (const lane of remaining) for (const item of lane) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
